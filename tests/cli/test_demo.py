import re

import pytest
from click.testing import CliRunner

from likewise.cli import main


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    page = tmp_path_factory.mktemp("demo") / "page.html"
    result = CliRunner().invoke(main, ["demo", "-o", str(page)])
    assert result.exit_code == 0, result.output
    return result.output, page.read_text(encoding="utf-8"), page


def test_the_table_has_a_row_for_25_50_100_and_all_answers_and_beats_k_means(ran):
    output, _, _ = ran
    rows = re.findall(r"^(?:likewise)?\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d\.\d\d)$", output, re.M)
    assert [row[0] for row in rows[:3]] == ["25", "50", "100"]
    (kmeans,) = map(float, re.findall(r"K-means, told K = 10 .* (\d\.\d\d)$", output, re.M))
    assert float(rows[-1][3]) > 0.85 > kmeans
    assert rows[-1][2] == "10"


def test_it_says_where_the_page_is_and_what_to_do_next(ran):
    output, _, page = ran
    assert str(page) in output
    assert "likewise label FOLDER" in output


def test_the_page_is_whole_in_itself(ran):
    _, text, _ = ran
    assert "<script" not in text
    assert not re.findall(r"(?:src|href)=\"(?!data:)", text)
    assert text.count("<section>") == 10
    assert "<polyline" in text


@pytest.mark.slow
def test_a_folder_that_is_not_there_is_named_without_a_traceback(tmp_path):
    page = tmp_path / "no" / "such" / "page.html"
    result = CliRunner().invoke(main, ["demo", "-o", str(page)])
    assert result.exit_code == 1
    assert f"Error: {page}: No such file or directory" in result.output
