import json
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pytest

from likewise.errors import InputError
from likewise.experiments.paper_tables import ranks_table, wins_table
from likewise.experiments.published import TABLE_1
from likewise.experiments.report import write_report
from likewise.experiments.results import MARK, Results
from likewise.experiments.store import Row
from likewise.experiments.tables import Table, latex_text

TASKS = ("iris", "wine", "ecoli", "hepatitis")
METHODS = ("COBRA", "MPCKM-MinMax", "COSC-MinMax")


def made_up_rows():
    rng = np.random.default_rng(0)
    rows = []
    for place, method in enumerate(METHODS):
        for task in TASKS:
            for fold in range(5):
                for size in (25, 50):
                    score = float(rng.uniform(0.5, 0.6) - 0.1 * place)
                    rows.append(
                        Row(
                            *("main", method, task, size, fold),
                            n_rows=100,
                            n_classes=3,
                            queries=size + place,
                            groups=3 - fold // 4,
                            ari_test=score,
                            ari_all=score,
                            cpu_seconds=0.1 + place,
                        )
                    )
                if method != "COBRA":
                    given = {"k_shift": 1, "n_classes": 3, "ari_test": 0.2, "queries": 50}
                    rows.append(Row("wrong-k", method, task, 50, fold, **given))
                size, budget = (25, 0) if method == "COBRA" else (0, 25)
                rows += [
                    Row(
                        *("curves", method, task, size * n, fold, 0, budget * n),
                        queries=25 * n,
                        ari_test=0.3 * n,
                    )
                    for n in (1, 2)
                ]
                curve = json.dumps([[0, 0.0], [10, 0.3], [25, 0.6]])
                given = {"queries": 25, "allowed": 25, "ari_test": 0.6, "curve": curve}
                rows.append(Row("anytime", method, task, 50, fold, **given))
    rows += [
        Row("strategies", name, "iris", 0, 0, n_rows=147, queries=155)
        for name in ("closest pairs first", "random pairs of groups", "random pairs of rows")
    ]
    rows.append(Row("strategies", "COBRA", "iris", 25, 0, n_rows=147, queries=26))
    return rows


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.outside = []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("src", "href", "xlink:href") and value and not value.startswith("#"):
                self.outside.append(value)


@pytest.mark.slow
def test_the_report_is_one_page_with_everything_in_it(tmp_path):
    pytest.importorskip("matplotlib", reason='pip install "likewise[plot]"')
    page = write_report(made_up_rows(), tmp_path / "report")
    text = page.read_text(encoding="utf-8")
    links = Links()
    links.feed(text)
    assert links.outside == []
    assert text.count("<svg") == 7
    for name in ("overview", "estimate", "curves", "times", "groups", "wrong-k", "anytime"):
        ET.parse(page.parent / f"{name}.svg")
        assert (page.parent / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    for name in ("table1-strategies", "table2-wins", "table3-ranks", "scores-25", "trouble"):
        for suffix in ("csv", "md", "tex"):
            assert (page.parent / f"{name}.{suffix}").stat().st_size > 0
    again = write_report(made_up_rows(), tmp_path / "again")
    assert again.read_text(encoding="utf-8") == text


def test_a_report_without_rows_is_refused(tmp_path):
    with pytest.raises(InputError, match="bench run"):
        write_report([], tmp_path)


def test_wins_are_counted_over_tasks_not_folds():
    table = wins_table(Results(made_up_rows()))
    assert table.rows[0][:3] == [25, "MPCKM-MinMax", 4]
    assert str(table.rows[0][3]).startswith("4 (0.")


def test_a_capped_cell_is_marked_wherever_it_is_used():
    rows = made_up_rows()
    at = next(i for i, row in enumerate(rows) if row.method == "COSC-MinMax")
    rows[at] = Row(**{**vars(rows[at]), "status": "capped", "ari_test": None})
    results = Results(rows)
    wins, ranks = wins_table(results), ranks_table(results, n_permutations=10)
    assert [line[1] for line in wins.rows if line[0] == 25] == [
        "MPCKM-MinMax",
        f"COSC-MinMax{MARK}",
    ]
    assert f"COSC-MinMax{MARK}" in [line[1] for line in ranks.rows if line[0] == 25]
    assert f"COSC-MinMax{MARK}" not in [line[1] for line in ranks.rows if line[0] == 50]


def test_ranks_of_a_size_sum_to_what_they_must():
    table = ranks_table(Results(made_up_rows()), n_permutations=10)
    assert sum(line[2] for line in table.rows if line[0] == 25) == pytest.approx(6)


def test_a_task_without_a_score_is_left_out_and_the_number_of_tasks_says_so():
    rows = [
        Row(**{**vars(row), "status": "failed", "ari_test": None})
        if (row.method, row.task) == ("COSC-MinMax", "wine")
        else row
        for row in made_up_rows()
    ]
    table = wins_table(Results(rows))
    assert [line[2] for line in table.rows if line[0] == 25] == [4, 3]


def test_tables_escape_what_their_language_needs():
    table = Table("t", "50 % of A_B", ["a & b", "c"], [["<x>", None]])
    assert r"50 \% of A\_B" in table.latex()
    assert r"a \& b" in table.latex()
    assert "&lt;x&gt;" in table.html()
    assert latex_text("†") == r"$\dagger$"
    assert table.csv() == "a & b,c\n<x>,\n"


def test_table_1_of_the_paper_is_known_for_six_datasets():
    assert len(TABLE_1) == 6
