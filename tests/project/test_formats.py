import csv
import io
import json
import re
import runpy
import zipfile
from contextlib import closing
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

from likewise import Answer, Session
from likewise.cli import main
from likewise.errors import InputError
from likewise.learning.reliability import SURE
from likewise.page.calls import reply_to
from likewise.project import FORMATS, export, open_project
from likewise.project.formats import Format, _harmless, columns_of, file_name_of
from likewise.project.groups import how_known
from likewise.project.workbook import MAIN, workbook


@pytest.fixture
def project(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["size,weight,group"]
    lines += [f"{a:.2f},{b:.2f},=cmd()" for a, b in rng.normal(size=(40, 2)) + rng.integers(0, 2)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    opened = open_project(path, questions="pairs", options={"columns": ("size", "weight")})
    yield opened.project
    opened.project.close()


def answer(project, n):
    for _ in range(n):
        query = project.ask()
        same = (query.left % 2) == (query.right % 2)
        said = Answer.SAME if same else Answer.DIFFERENT
        project.tell(said, number=query.number, position=project.position)


def test_a_table_has_the_items_columns_then_ours(project):
    answer(project, 6)
    project.name(project.groups()[0].id, "first", position=project.position)
    columns = columns_of(project)
    names = ["id", "size", "weight", "group_", "group", "name", "how", "certainty", "marked"]
    assert list(columns) == names
    assert {len(values) for values in columns.values()} == {40}
    labels = project.session.labels
    for i in range(40):
        for j in range(40):
            assert (columns["group"][i] == columns["group"][j]) == (labels[i] == labels[j])


def exported(tmp_path, records):
    """Return rows from JSON, exported in every format of a table."""
    parquet = pytest.importorskip("pyarrow.parquet", reason='pip install "likewise[tables]"')
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(records))
    with closing(open_project(path, options={"columns": ("x",)}).project) as project:
        return (
            list(csv.DictReader(io.StringIO(export(project, "csv").decode()))),
            [json.loads(line) for line in export(project, "jsonl").decode().splitlines()],
            parquet.read_table(io.BytesIO(export(project, "parquet"))).to_pylist(),
        )


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1, "a", None], ["1", "a", None]),
        ([True, 2.5, None], ["true", "2.5", None]),
        ([10**30, 1, None], [str(10**30), "1", None]),
        ([{}, {}, None], ["{}", "{}", None]),
        ([{"k": 1}, ["a"], "b"], ['{"k": 1}', '["a"]', "b"]),
        (["\ud800", "a", "b"], ["\\ud800", "a", "b"]),
        ([["\ud800"], ["a"], []], ['["\\ud800"]', '["a"]', "[]"]),
        ([1, 2, None], [1, 2, None]),
        ([["a"], ["b"], []], [["a"], ["b"], []]),
    ],
)
def test_values_of_several_types_or_that_cannot_be_encoded_are_exported(tmp_path, values, texts):
    records = [{"x": k, "value": value} for k, value in enumerate(values)]
    by_csv, by_jsonl, by_parquet = exported(tmp_path, records)
    assert [row["value"] for row in by_parquet] == texts
    assert [row["x"] for row in by_jsonl] == [0, 1, 2]
    assert [row["x"] for row in by_csv] == ["0", "1", "2"]


def test_no_column_of_the_items_is_lost_by_its_new_name(tmp_path):
    records = [{"x": k, "group": "a", "group_": "b", "group__": "c"} for k in range(3)]
    for rows in exported(tmp_path, records):
        assert (rows[0]["group___"], rows[0]["group_"], rows[0]["group__"]) == ("a", "b", "c")


def test_how_says_what_was_said_and_what_was_learned(project):
    assert set(how_known(project.session)[0]) == {"open"}
    answer(project, 12)
    how, certainty = how_known(project.session)
    asked = {row for gesture in project.session.events for row in gesture.rows}
    said = {row for row, word in enumerate(how) if word == "said"}
    joined = {row for rows in project.session.links.components() for row in rows}
    assert joined <= said <= asked
    assert all(certainty[row] == 1 for row in said)
    learned = [row for row, word in enumerate(how) if word == "learned"]
    assert learned
    assert all(0 < certainty[row] <= 1 for row in learned)


def test_certainty_has_three_digits_and_none_where_nothing_is_known(project):
    assert set(columns_of(project)["certainty"]) == {None}
    answer(project, 12)
    certainty = how_known(project.session)[1]
    assert columns_of(project)["certainty"] == certainty.round(3).tolist()


def test_a_row_that_was_only_told_apart_is_learned_where_the_learner_put_it(project):
    answer(project, 11)
    placed: list[int] = []
    while not placed:
        answer(project, 1)
        labels, links = project.session.labels, project.session.links
        alone = [r for link in links for r in link.pair if links.size(r) == 1]
        placed = [r for r in alone if np.count_nonzero(labels == labels[r]) > 1]
    how, certainty = how_known(project.session)
    assert {how[row] for row in placed} == {"learned"}
    assert all(certainty[row] < 1 for row in placed)


def test_groups_count_what_is_said_open_and_doubtful(project):
    assert [(g.n_said, g.n_open) for g in project.groups()] == [
        (0, g.size) for g in project.groups()
    ]
    answer(project, 12)
    how, certainty = how_known(project.session)
    groups = project.groups()
    assert sum(g.n_said for g in groups) == np.count_nonzero(how == "said")
    assert sum(g.n_open for g in groups) == np.count_nonzero(how == "open") == 0
    assert sum(g.n_doubtful for g in groups) == np.count_nonzero(certainty < SURE)


def test_a_spreadsheet_runs_no_formula(project):
    rows = list(csv.reader(io.StringIO(export(project, "csv").decode())))
    assert rows[1][3] == "'=cmd()"
    # A negative number is no formula.
    assert any(row[1].startswith("-") for row in rows[1:])


FORMULAS = [
    "=1+1", "+1+1", "-2+3", "@SUM(A1)", "=cmd|' /C calc'!A0", "-1+cmd|' /C calc'!A0", "-A1",
    "+B2-C3", "\t=1", "\r=1+1", "\n=1",
    "  =1", "\ufeff=1", "\u200b=1", "\u200b\ufeff \t=1", "\uff1d1+1",
    "\uff0b1+1", "\uff0d2+3", "\uff20SUM(A1)", "\ufeff\uff1d1", "+49-123-456",
    "-x(1)", '=HYPERLINK("http://x")',
]  # fmt: skip
NAMES = [
    "-dash.png", "--x.png", "-1 dash.png", "+49 photo.jpg", "@home.png", "- a list", "-", "-3.5",
    "+1e5", "a=b", "two\nlines", "a lone\rreturn", 'a "quote"', "a,b;c", " spaces ", "'quoted'",
    "größe", "\ufeffmark",
]  # fmt: skip


def table_of(tmp_path, cells):
    """Return a project about rows with these texts, and with numbers to compare them by."""
    path = tmp_path / "rows.jsonl"
    lines = (json.dumps({"x": k, "text": cell}) for k, cell in enumerate(cells))
    path.write_text("\n".join(lines))
    return open_project(path, options={"columns": ("x",), "cache": False}).project


def test_no_cell_becomes_a_formula_or_a_row(tmp_path):
    with closing(table_of(tmp_path, FORMULAS)) as project:
        text = export(project, "csv").decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["text"] for row in rows] == [f"'{cell}" for cell in FORMULAS]
    # Nothing but the ends of the rows is outside of quotation marks and breaks a line.
    outside = "".join(text.split('"')[::2])
    assert outside.count("\n") == 1 + len(FORMULAS)
    assert "\r" not in outside
    assert not any(cell.strip() and cell.strip() in outside for cell in FORMULAS)


def test_names_come_back_unchanged_from_csv_also_by_pandas(tmp_path):
    pandas = pytest.importorskip("pandas", reason="pip install pandas")
    with closing(table_of(tmp_path, NAMES)) as project:
        data = export(project, "csv")
    rows = csv.DictReader(io.StringIO(data.decode(), newline=""))
    assert [row["text"] for row in rows] == NAMES
    assert pandas.read_csv(io.BytesIO(data), dtype=str)["text"].tolist() == NAMES


def cells_of(workbook):
    """Return the cells of an Excel workbook as pairs of type and text."""
    with zipfile.ZipFile(io.BytesIO(workbook)) as archive:
        for name in archive.namelist():
            ElementTree.fromstring(archive.read(name))
        sheet = ElementTree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    assert not list(sheet.iter(f"{{{MAIN}}}f"))  # a formula would be one

    def text(cell):
        plain = "".join(cell.itertext())
        return re.sub(r"_x([0-9A-F]{4})_", lambda match: chr(int(match[1], 16)), plain)

    return [[(cell.get("t"), text(cell)) for cell in row] for row in sheet.iter(f"{{{MAIN}}}row")]


RICH = '<r><t>x</t></r></is></c><c><f>1+1</f></c><c t="inlineStr"><is><r><t>y</t></r>'
"""A text that XlsxWriter takes for XML of its own and writes as it is, with the formula."""


def test_every_text_comes_back_unchanged_from_a_workbook(tmp_path):
    cells = [*FORMULAS, *NAMES, "nul \0", "_x0041_", "<b>&amp;</b>", "\x1b[0m", RICH]
    with closing(table_of(tmp_path, cells)) as project:
        head, *rows = cells_of(export(project, "xlsx"))
    names = [name for _, name in head]
    assert names == ["id", "x", "text", "group", "name", "how", "certainty", "marked"]
    shown = [cell.replace("\0", r"\x00").replace("\x1b", r"\x1b") for cell in cells]
    assert [row[2] for row in rows] == [("inlineStr", cell) for cell in shown]
    assert [row[1] for row in rows] == [(None, str(k)) for k in range(len(cells))]
    assert {row[-1] for row in rows} == {("b", "0")}


def test_a_workbook_has_every_digit_of_a_number():
    (_, *rows) = cells_of(workbook({"x": [0.1 + 0.2, 2**53 - 1, -1e-300]}))
    assert [row[0][1] for row in rows] == ["0.30000000000000004", "9007199254740991", "-1e-300"]


def test_a_workbook_holds_what_a_sheet_can(monkeypatch):
    odd = [10**20, float("nan"), float("inf"), ["a"], b"raw", "x" * 40_000]
    (_, *rows) = cells_of(workbook({"odd": odd}))
    kinds = [row[0][0] for row in rows]
    assert kinds == ["inlineStr"] * 6
    assert len(rows[-1][0][1]) == 32_767
    monkeypatch.setattr("likewise.project.workbook.MOST_ROWS", 3)
    with pytest.raises(InputError, match=r"at most 3 rows, not 7: write \.csv"):
        workbook({"odd": odd})


@pytest.mark.parametrize("options", [{"id": "id"}, {"id": "id", "text": "words"}])
def test_a_column_of_ids_is_exported_once(tmp_path, options):
    path = tmp_path / "rows.csv"
    path.write_text("id,words,x\na,one two,1\nb,three four,2\nc,five six,7\n")
    with closing(open_project(path, options={**options, "cache": False}).project) as project:
        columns = columns_of(project)
    assert columns["id"] == ["a", "b", "c"]
    assert "id_" not in columns


def test_marks_and_names_are_exported_as_they_are(project):
    answer(project, 6)
    asked = project.session.events[0]
    project.misfit(asked.left, position=project.position)
    project.name(project.groups()[0].id, "größte", position=project.position)
    marked = columns_of(project)["marked"]
    assert [row for row, is_marked in enumerate(marked) if is_marked] == [asked.left]
    for format in ("jsonl", "json"):
        assert "größte".encode() in export(project, format)


def test_formats_agree(project):
    pytest.importorskip("pyarrow", reason='pip install "likewise[tables]"')
    import pyarrow.parquet

    answer(project, 6)
    lines = [json.loads(line) for line in export(project, "jsonl").decode().splitlines()]
    table = pyarrow.parquet.read_table(io.BytesIO(export(project, "parquet"))).to_pylist()
    assert [line["group"] for line in lines] == [row["group"] for row in table]
    rows = list(csv.DictReader(io.StringIO(export(project, "csv").decode())))
    assert [row["group"] for row in rows] == [line["group"] for line in lines]
    session = Session.from_dict(json.loads(export(project, "json")))
    assert session.labels.tolist() == project.session.labels.tolist()


def test_every_table_has_the_key_and_the_name_of_the_page(project):
    pytest.importorskip("pyarrow", reason='pip install "likewise[tables]"')
    import pyarrow.parquet

    answer(project, 12)
    project.name(project.groups()[0].id, 'the "first", one', position=project.position)
    page: Any = reply_to(project, "groups?limit=100")[1]
    shown: dict[str, Any] = {}
    for group in page["groups"]:
        reply: Any = reply_to(project, f"group/{group['id']}?limit=500")[1]
        members = reply["members"]
        if group["key"]:
            shown |= {one["id"]: (group["key"].upper(), group["name"]) for one in members}
    assert 'the "first", one' in {name for _, name in shown.values()}
    head, *rows = ([text for _, text in row] for row in cells_of(export(project, "xlsx")))
    tables = {
        "csv": list(csv.DictReader(io.StringIO(export(project, "csv").decode()))),
        "jsonl": [json.loads(line) for line in export(project, "jsonl").decode().splitlines()],
        "parquet": pyarrow.parquet.read_table(io.BytesIO(export(project, "parquet"))).to_pylist(),
        "xlsx": [dict(zip(head, row, strict=True)) for row in rows],
    }
    for format, found in tables.items():
        told = {row["id"]: (row["group"], row["name"]) for row in found if row["id"] in shown}
        assert told == shown, format


def test_the_exported_script_loads_the_exported_session(project, tmp_path, monkeypatch):
    answer(project, 4)
    project.name(project.groups()[0].id, "first", position=project.position)
    for format in ("json", "py"):
        (tmp_path / file_name_of(project, format)).write_bytes(export(project, format))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["load"])
    found = runpy.run_path("table-load_session.py")
    assert found["session"].to_dict() == project.session.to_dict()
    columns = columns_of(project)
    assert found["groups"] == dict(zip(columns["id"], columns["group"], strict=True))
    assert found["names"] == dict(zip(columns["group"], columns["name"], strict=True))
    assert found["model"].labels_.tolist() == project.session.labels.tolist()


def test_every_format_has_a_title_and_a_file_name_of_its_suffix(project):
    for suffix in FORMATS.names:
        found = FORMATS.find(suffix)
        assert found.title
        named = suffix.rpartition("-")[2]
        end = {"splink": "csv"}.get(suffix, "zip" if found.parts else named)
        assert found.file_name.endswith(f".{end}")
        assert isinstance(found.write, type(answer))


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("photos.csv", "photos-groups.csv"),
        ("my photos (2).v1.csv", "my photos (2).v1-groups.csv"),
        ("été.csv", "été-groups.csv"),
        ('a"b;\n.csv', "a_b__-groups.csv"),
        ("--.csv", "groups.csv"),
    ],
)
def test_files_are_named_after_their_source(project, tmp_path, source, name):
    project.items.source = tmp_path / source
    assert file_name_of(project, "csv") == name
    folder = project.items.source = tmp_path / "trip.2026"
    folder.mkdir()
    assert file_name_of(project, "json") == "trip.2026-session.json"


def test_the_page_names_a_download_in_ascii_and_in_full(project, tmp_path):
    project.items.source = tmp_path / "été.csv"
    _, found = reply_to(project, "export/csv")
    expected = "attachment; filename=\"_t_-groups.csv\"; filename*=UTF-8''%C3%A9t%C3%A9-groups.csv"
    assert found.headers["content-disposition"] == expected


def test_groups_have_the_keys_of_the_page_and_open_ones_the_number_of_a_row(project):
    before = columns_of(project)["group"]
    assert all(group.startswith("open ") for group in before)
    answer(project, 12)
    page: Any = reply_to(project, "groups?limit=100")[1]
    keys = {group["key"].upper() for group in page["groups"] if group["key"]}
    columns = columns_of(project)
    assert {group for group in columns["group"] if not group.startswith("open ")} == keys
    assert len({*columns["group"]}) == len(page["groups"])


def test_a_format_of_ones_own_is_one_function(project, tmp_path, monkeypatch):
    monkeypatch.setattr(FORMATS, "_known", dict(FORMATS._known))
    FORMATS.register(
        "txt", Format("Plain", "text/plain", "groups.txt", lambda p: b"%d" % len(p.ids))
    )
    assert export(project, "txt") == b"40"
    _, listed = reply_to(project, "formats")
    assert isinstance(listed, dict)
    assert {"format": "txt", "title": "Plain"} in listed["formats"]
    assert reply_to(project, "export/txt")[1].data == b"40"
    target = tmp_path / "groups.txt"
    result = CliRunner().invoke(main, ["export", str(project.path), "-o", str(target)])
    assert result.exit_code == 0, result.output
    assert target.read_bytes() == b"40"
    assert "txt" in FORMATS.names


@pytest.mark.parametrize("text", ["=1+1", "+A1", " @SUM(B2)"])
def test_an_apostrophe_stands_before_a_formula(text):
    assert _harmless(text) == "'" + text


@pytest.mark.parametrize("text", ["-dash.png", "-3.5"])
def test_names_and_numbers_stay_as_they_are(text):
    assert _harmless(text) == text
