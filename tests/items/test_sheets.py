"""Spreadsheets: what they hold, and what a hostile one cannot do."""

import datetime as dt
import zipfile
from typing import Any

import pytest

from likewise.errors import InputError
from likewise.items import open_items
from likewise.items.tablefiles import read_table
from likewise.project.workbook import MAIN, PARTS, XML, workbook

STYLES = f"""<styleSheet xmlns="{MAIN}"><numFmts><numFmt numFmtId="164" formatCode="dd.mm.yyyy"/>
<numFmt numFmtId="165" formatCode="[h]:mm"/>
<numFmt numFmtId="166" formatCode='0.0" days"'/></numFmts>
<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="20"/><xf numFmtId="165"/>
<xf numFmtId="166"/><xf numFmtId="9"/></cellXfs></styleSheet>"""
SHARED = f"""<sst xmlns="{MAIN}"><si><t>name</t></si><si><r><t>An</t></r><r><t>na</t></r>
<rPh><t>not this</t></rPh></si><si><t>a_x000D_b</t></si></sst>"""


def xlsx(path, rows, **more):
    parts = {**PARTS, "xl/worksheets/sheet1.xml": sheet(rows), **more}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text if text.startswith("<?xml") else XML + text)
    return path


def sheet(rows):
    return f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'


def ods(path, table, before=""):
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    text = (
        f"<office:document-content {spaces}><office:body><office:spreadsheet>{table}"
        "</office:spreadsheet></office:body></office:document-content>"
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", before + text)
    return path


def columns(path, **options):
    return {k: list(v) for k, v in read_table(path, **options).columns.items()}


def test_what_we_export_is_read_back(tmp_path):
    wanted: dict[str, list[Any]] = {
        "a": ["x", None, "=1+1"],
        "b": [1, 2.5, -3],
        "c": [True, False, None],
    }
    (tmp_path / "t.xlsx").write_bytes(workbook(wanted))
    assert columns(tmp_path / "t.xlsx") == wanted
    assert open_items(tmp_path / "t.xlsx").features().X.shape[0] == 3


def test_dates_times_durations_and_texts_of_excel(tmp_path):
    rows = (
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>day</t></is></c>'
        '<c r="C1" t="str"><v>at</v></c><c r="D1" t="str"><v>took</v></c>'
        '<c r="E1" t="str"><v>age</v></c><c r="G1" t="str"><v>share</v></c></row>'
        '<row r="3"><c r="A3" t="s"><v>1</v></c><c r="B3" s="1"><v>45658.5</v></c>'
        '<c r="C3" s="2"><v>0.5</v></c><c r="D3" s="3"><v>1.25</v></c><c r="E3" s="4"><v>7</v></c>'
        '<c r="G3" s="5"><v>0.25</v></c></row>'
        '<row r="4"><c r="A4" t="s"><v>2</v></c><c r="B4" t="e"><v>#N/A</v></c>'
        '<c r="G4"><v>1</v></c></row>'
    )
    more = {"xl/styles.xml": STYLES, "xl/sharedStrings.xml": SHARED}
    assert columns(xlsx(tmp_path / "t.xlsx", rows, **more)) == {
        "name": ["Anna", "a\rb"],
        "day": [dt.datetime(2025, 1, 1, 12), None],
        "at": [dt.time(12), None],
        "took": [dt.timedelta(hours=30), None],
        "age": [7, None],
        "share": [0.25, 1],
    }


def test_a_title_above_and_other_sheets_are_left_out_and_named(tmp_path):
    rows = (
        '<row><c t="str"><v>Sales of 2025</v></c></row><row/>'
        '<row><c t="str"><v>a</v></c><c t="str"><v>b</v></c></row>'
        "<row><c><v>1</v></c><c><v>2</v></c></row><row><c><v>3</v></c><c><v>4</v></c></row>"
    )
    book = PARTS["xl/workbook.xml"].replace(
        "</sheets>", '<sheet name="other" sheetId="2" r:id="rId1"/></sheets>'
    )
    table = read_table(xlsx(tmp_path / "t.xlsx", rows, **{"xl/workbook.xml": book}))
    assert {k: list(v) for k, v in table.columns.items()} == {"a": [1, 3], "b": [2, 4]}
    said = "only the sheet 'groups' of 2 was read; for another, use --sheet: 'other'"
    assert table.notes[0] == said
    assert table.notes[1] == "1 line above the table left out"


@pytest.mark.parametrize("suffix", ["xlsx", "ods"])
def test_a_person_chooses_one_of_several_sheets(tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    if suffix == "xlsx":
        book = PARTS["xl/workbook.xml"].replace(
            "</sheets>", '<sheet name="2025" sheetId="2" r:id="rId2"/></sheets>'
        )
        relations = PARTS["xl/_rels/workbook.xml.rels"]
        second = relations[relations.index("<Relationship Id") :].replace("rId1", "rId2")
        more = {
            "xl/workbook.xml": book,
            "xl/_rels/workbook.xml.rels": relations.replace(
                "</Relationships>", second.replace("sheet1", "sheet2")
            ),
            "xl/worksheets/sheet2.xml": sheet(cells("b", 3, 4)),
        }
        xlsx(path, cells("a", 1, 2), **more)
        xlsx(tmp_path / "title.xlsx", cells("Numbers of 2025"), **more)
        assert "only the sheet '2025' of 2" in read_table(tmp_path / "title.xlsx").notes[0]
    else:
        tables = "".join(
            f'<table:table table:name="{name}">{"".join(map(ods_row, values))}</table:table>'
            for name, values in (("groups", ("a", 1, 2)), ("2025", ("b", 3, 4)))
        )
        ods(path, tables)
    assert {k: list(v) for k, v in read_table(path).columns.items()} == {"a": [1, 2]}
    chosen = read_table(path, sheet="2025")
    assert ({k: list(v) for k, v in chosen.columns.items()}, chosen.notes) == ({"b": [3, 4]}, ())
    assert open_items(path, sheet="2025", cache=False).view(0)["fields"] == [["b", "3"]]
    with pytest.raises(InputError, match=r"has no sheet '2052'; it has 'groups', '2025'\. Did you"):
        read_table(path, sheet="2052")


def cells(name, *numbers):
    values = "".join(f"<row><c><v>{number}</v></c></row>" for number in numbers)
    return f'<row><c t="str"><v>{name}</v></c></row>{values}'


def ods_row(value):
    about = 'office:value-type="string"'
    if not isinstance(value, str):
        about = f'office:value-type="float" office:value="{value}"'
    cell = f"<table:table-cell {about}><text:p>{value}</text:p></table:table-cell>"
    return f"<table:table-row>{cell}</table:table-row>"


def test_the_sheet_of_what_has_none_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"--sheet is for spreadsheets \(\.xlsx"):
        read_table(tmp_path / "t.csv", sheet="x")


def test_an_opendocument_sheet_is_read(tmp_path):
    def cell(kind, value, attribute="value"):
        about = f'office:value-type="{kind}" office:{attribute}="{value}"'
        return f"<table:table-cell {about}><text:p>shown</text:p></table:table-cell>"

    def words(text):
        return (
            f'<table:table-cell office:value-type="string"><text:p>{text}</text:p>'
            "<office:annotation><text:p>a remark</text:p></office:annotation></table:table-cell>"
        )

    rest = '<table:table-cell table:number-columns-repeated="16000"/>'
    head = "".join(map(words, ["n", "day", "at", "ok", "who", "twice"]))
    row = (
        cell("float", 2.5)
        + cell("date", "2025-01-01", "date-value")
        + cell("time", "PT14H30M00S", "time-value")
        + cell("boolean", "true", "boolean-value")
        + words("An<text:span>na</text:span>")
        + cell("percentage", 1)
    )
    table = (
        f'<table:table table:name="one"><table:table-row>{head}{rest}</table:table-row>'
        f'<table:table-row table:number-rows-repeated="2">{row}{rest}</table:table-row>'
        f'<table:table-row table:number-rows-repeated="1048000">{rest}</table:table-row>'
        "</table:table>"
    )
    assert columns(ods(tmp_path / "t.ods", table)) == {
        "n": [2.5] * 2,
        "day": [dt.datetime(2025, 1, 1)] * 2,
        "at": [dt.time(14, 30)] * 2,
        "ok": [True] * 2,
        "who": ["Anna"] * 2,
        "twice": [1] * 2,
    }


# -- nothing from outside is trusted ---------------------------------------------------------------

LOL = '<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]>'


def test_entities_are_refused(tmp_path):
    bad = XML + LOL + sheet('<row><c t="str"><v>&b;</v></c></row>')
    path = xlsx(tmp_path / "t.xlsx", "", **{"xl/worksheets/sheet1.xml": bad})
    with pytest.raises(InputError, match="declares a document type"):
        read_table(path)
    outside = '<!DOCTYPE x SYSTEM "file:///etc/passwd">'
    with pytest.raises(InputError, match="declares a document type"):
        read_table(ods(tmp_path / "t.ods", "", outside))


def test_two_cells_at_the_ends_of_a_sheet_take_no_memory(tmp_path):
    # calamine 0.9 allocates 512 GiB for this and ends the process.
    first = '<row r="1"><c r="A1" t="str"><v>a</v></c></row>'
    last = '<row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    assert columns(xlsx(tmp_path / "t.xlsx", first + last)) == {"a": [None], "column 2": [2]}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ('<row><c r="ZZZ1"><v>1</v></c></row>', "at most 16384 columns"),
        ('<row><c t="s"><v>7</v></c></row>', "cannot be read as a spreadsheet"),
        ('<row><c t="s"><v>-1</v></c></row>', "there is no text -1"),
        ('<row><c s="x"><v>1</v></c></row>', "cannot be read as a spreadsheet"),
        ("<row><c><v>much</v></c></row>", "could not convert"),
        ("<row><c><v>1</v></row>", "mismatched tag"),
        ("<row>" * 300, "within each other more than 200 times"),
        ("", "is empty"),
    ],
)
def test_a_damaged_sheet_says_what_is_wrong(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        read_table(xlsx(tmp_path / "t.xlsx", rows))


def test_rows_that_repeat_for_ever_are_refused(tmp_path, monkeypatch):
    row = (
        '<table:table-row table:number-rows-repeated="{}"><table:table-cell '
        'table:number-columns-repeated="{}" office:value-type="float" office:value="1"/>'
        "</table:table-row>"
    )
    table = '<table:table table:name="t">{}</table:table>'
    endless = ods(tmp_path / "a.ods", table.format(row.format(10**12, 1)))
    with pytest.raises(InputError, match="at most 1048576 rows"):
        read_table(endless)
    wide = ods(tmp_path / "b.ods", table.format(row.format(1, 10**12)))
    with pytest.raises(InputError, match="at most 16384 columns"):
        read_table(wide)
    monkeypatch.setattr("likewise.items.limits.available_memory", lambda: 64 << 20)
    large = ods(tmp_path / "c.ods", table.format(row.format(10**6, 10**3)))
    with pytest.raises(InputError, match=r"would take .* of memory"):
        read_table(large)


def test_a_long_text_in_many_cells_counts_in_each(tmp_path, monkeypatch):
    monkeypatch.setattr("likewise.items.limits.available_memory", lambda: 256 << 20)
    text = "a" * 2_000_000
    cells = '<row><c t="s"><v>0</v></c></row>' * 100
    shared = f'<sst xmlns="{MAIN}"><si><t>{text} </t></si></sst>'
    path = xlsx(tmp_path / "t.xlsx", cells, **{"xl/sharedStrings.xml": shared})
    with pytest.raises(InputError, match=r"would take .* of memory"):
        read_table(path)
    row = (
        '<table:table-row table:number-rows-repeated="100"><table:table-cell>'
        f"<text:p>{text}</text:p></table:table-cell></table:table-row>"
    )
    path = ods(tmp_path / "t.ods", f'<table:table table:name="t">{row}</table:table>')
    with pytest.raises(InputError, match=r"would take .* of memory"):
        read_table(path)


def test_the_format_of_a_number_takes_no_time_however_long_it_is(tmp_path):
    code, uses = "[" * 300_000, '<xf numFmtId="200"/>' * 1000
    styles = (
        f'<styleSheet xmlns="{MAIN}"><numFmts><numFmt numFmtId="200" formatCode="{code}"/>'
        f"</numFmts><cellXfs>{uses}</cellXfs></styleSheet>"
    )
    rows = '<row><c t="str"><v>a</v></c></row><row><c s="0"><v>2</v></c></row>'
    assert columns(xlsx(tmp_path / "t.xlsx", rows, **{"xl/styles.xml": styles})) == {"a": [2]}


def test_a_sheet_without_a_file_says_so(tmp_path):
    workbook = f'<workbook xmlns="{MAIN}"><sheets><sheet name="s"/></sheets></workbook>'
    with pytest.raises(InputError, match="cannot be read as a spreadsheet"):
        read_table(xlsx(tmp_path / "t.xlsx", "", **{"xl/workbook.xml": workbook}))


def test_a_sheet_that_unpacks_to_far_more_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("likewise.items.limits.SMALL", 1 << 20)
    path = xlsx(tmp_path / "t.xlsx", f"<row>{' ' * 9_000_000}</row>")
    with pytest.raises(InputError, match="decompression bomb"):
        read_table(path)


def test_what_is_no_spreadsheet_names_the_remedy(tmp_path):
    (tmp_path / "t.xlsx").write_bytes(b"\xd0\xcf\x11\xe0 an old or protected workbook")
    with pytest.raises(InputError, match=r"If it has a password or is an old \.xls, save"):
        read_table(tmp_path / "t.xlsx")
    with pytest.raises(InputError, match="are for texts"):
        read_table(tmp_path / "t.xlsx", encoding="utf-8")
