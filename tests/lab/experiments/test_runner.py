"""Committed rows come out again."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from likewise.errors import InputError
from likewise.lab.experiments.cells import run_cell
from likewise.lab.experiments.machine import kernel
from likewise.lab.experiments.run_tables import kernels_table
from likewise.lab.experiments.runner import differences, draw, make_again, make_all_again
from likewise.lab.experiments.store import Cell, Row, read_results

ROWS = [
    Row("main", m, t, 25, fold) for m in ("A", "B") for t in ("iris", "wine") for fold in (0, 1)
]


def test_a_sample_depends_on_its_seed_alone():
    assert draw(ROWS, 3, seed=1) == draw(reversed(ROWS), 3, seed=1)
    assert draw(ROWS, 3, seed=1) != draw(ROWS, 3, seed=2)
    assert len(draw(ROWS, 100)) == len(ROWS)


def test_a_sample_can_be_of_some_rows_only():
    slow = replace(ROWS[0], cpu_seconds=9.0, fold=2)
    bad = replace(ROWS[0], status="capped", fold=3)
    found = draw([*ROWS, slow, bad], 100, tasks=["iris"], max_seconds=1.0)
    assert sorted(row.fold for row in found) == [0, 0, 1, 1]
    assert draw(ROWS, 1, tasks=["none"]) == []


def test_rows_are_compared_but_for_times_and_last_bits():
    old = Row("budgets", "A", "iris", 0, 0, ari_test=0.5, curve="[[10, 10, 0.5]]", seconds=1.0)
    near = replace(old, ari_test=0.5 + 1e-12, curve="[[10, 10, 0.500000000001]]", seconds=9.0)
    assert differences(old, near) == {}
    assert set(differences(old, replace(old, ari_test=None))) == {"ari_test"}
    assert set(differences(old, replace(old, curve="[[10, 9, 0.5]]"))) == {"curve"}
    assert set(differences(old, replace(old, curve="[]"))) == {"curve"}
    new = replace(old, ami_test=0.4, rows_read=20, curve="[[10, 10, 0.5, 0.4, 0.4, 0.6, 20]]")
    assert differences(old, new) == {}
    assert set(differences(new, replace(new, rows_read=21))) == {"rows_read"}


@pytest.mark.parametrize(
    ("cell", "given"),
    [
        (Cell("main", "COBRA", "iris", 10, 0), {}),
        (Cell("main", "MPCKM-MinMax", "iris", 10, 0), {"allowed": 7}),
        (Cell("anytime", "COBRA", "iris", 10, 0), {"allowed": 7}),
        (Cell("noise-10", "DSL", "iris", 0, 0), {"budgets": (5, 9)}),
    ],
    ids=str,
)
def test_a_row_is_made_again_with_as_many_questions(blobs, cell, given):
    row = run_cell(cell, **given)
    assert row.status == "ok", row.error
    again = make_again(row)
    assert differences(row, again) == {}
    if "budgets" in given:
        assert [b for b, *_ in json.loads(again.curve)] == [5, 9]


def test_a_row_names_its_kernel_and_is_made_again_under_it(blobs):
    row = run_cell(Cell("main", "COBRA", "iris", 10, 0))
    assert row.kernel == kernel()
    ((old, new),) = make_all_again([replace(row, kernel="")])
    assert (old.cell, new.kernel) == (row.cell, kernel())


@pytest.mark.slow
def test_another_kernel_is_that_of_another_process(data_home):
    row = run_cell(Cell("main", "COBRA", "iris", 10, 0), data_home=str(data_home))
    others = {"SkylakeX": "Haswell", "Haswell": "Nehalem", "Zen": "Nehalem"}
    if (other := others.get(kernel())) is None:
        pytest.skip(f"OpenBLAS has no other code for this processor ({kernel()})")
    ((_, new),) = make_all_again([row], under=other, data_home=str(data_home))
    assert (new.kernel, new.status) == (other, "ok")
    with pytest.raises(InputError, match="code for Abacus, which this processor does not run"):
        list(make_all_again([replace(row, kernel="Abacus")]))


def test_the_table_of_kernels_counts_rows_that_differ():
    rows = [replace(ROWS[k], ari_test=0.5, kernel="A") for k in range(4)]
    others = [replace(row, kernel="B", ari_test=0.5 + 0.1 * (row.fold == 1)) for row in rows]
    table = kernels_table(rows, [*others, replace(rows[0], task="none", kernel="B")])
    assert table is not None
    (line,) = table.frame.to_dict("records")
    assert (line["method"], line["rows"], line["differ"]) == ("A", 4, 2)
    assert line["mean change of ARI"] == pytest.approx(0.05)
    assert "A changes by .01 or more" in table.verdict
    assert kernels_table(rows, []) is None
    assert kernels_table(rows, rows) is None  # the same kernel, not another


@pytest.mark.slow
def test_a_sample_of_the_committed_rows_comes_out_again(data_home):
    """The guard against results that nobody can make: a few fast rows of COBRA."""
    path = Path(__file__).parents[3] / "benchmarks" / "results" / "results.csv.gz"
    tasks = ("iris", "wine", "ecoli", "sonar", "ionosphere", "glass", "yeast", "parkinsons")
    rows = [row for row in read_results(path) if row.method == "COBRA"]
    for row in draw(rows, 12, tasks=tasks, max_seconds=1.0):
        assert differences(row, make_again(row, data_home=str(data_home))) == {}
