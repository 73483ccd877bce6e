"""The demo's pictures: every mix is there, and the names of the files say nothing."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from likewise import LabelOracle, Likewise
from likewise.cli.aquarium import (
    COLORS,
    N_FISH,
    PATTERNS,
    SIZE,
    draw,
    kinds,
    school,
    write_aquarium,
)
from likewise.items import open_items

Image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "aquarium"
    assert write_aquarium(folder) == N_FISH
    return folder


def test_every_mix_of_kind_color_and_pattern_is_there():
    mixes = {(fish.kind, fish.color, fish.pattern) for fish in school()}
    assert len(mixes) == len(kinds()) * len(COLORS) * len(PATTERNS)


def test_the_names_of_the_files_say_nothing(folder):
    assert sorted(path.name for path in folder.iterdir()) == [f"{k:02d}.png" for k in range(N_FISH)]


def test_a_fish_is_drawn_the_same_every_time():
    fish = school()[7]
    assert draw(fish).size == (SIZE, SIZE)
    assert draw(fish).tobytes() == draw(school()[7]).tobytes()


def test_no_fish_leaves_the_picture(folder):
    for path in folder.iterdir():
        with Image.open(path) as picture:
            pixels = np.asarray(picture, dtype=int)
        edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
        assert edge.min() > 200, path.name  # nothing but water


@pytest.mark.slow
def test_a_dozen_answers_group_them_by_kind(folder):
    truth = np.unique([fish.kind for fish in school()], return_inverse=True)[1]
    X = np.asarray(open_items(folder, encoder="layout"))
    model = Likewise(12, random_state=0).fit(X, oracle=LabelOracle(truth))
    assert adjusted_rand_score(truth, model.labels_) > 0.9
