import gzip
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import InputError, MissingExtraError
from likewise.items.fields import as_text
from likewise.items.tablefiles import read_table


def write(tmp_path, content, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def columns(path, **options):
    return {k: list(v) for k, v in read_table(path, **options).columns.items()}


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path, delimiter):
    path = write(tmp_path, "a,b,c\n1,2,3\n4,5,6\n".replace(",", delimiter))
    assert columns(path) == {"a": ["1", "4"], "b": ["2", "5"], "c": ["3", "6"]}


def test_a_semicolon_file_may_have_decimal_commas(tmp_path):
    table = read_table(write(tmp_path, "a;b\n1,5;x\n2,5;y\n"))
    assert list(table.columns["a"]) == ["1,5", "2,5"]
    assert table.has_decimal_comma


def test_quoted_fields_keep_delimiters_and_line_breaks(tmp_path):
    path = write(tmp_path, 'a,b\n"x, y","1\n2"\n"say ""hi""",3\n')
    assert columns(path) == {"a": ["x, y", 'say "hi"'], "b": ["1\n2", "3"]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_unicode_with_and_without_a_mark_is_read(tmp_path, encoding):
    path = write(tmp_path, "größe,b\nж,🙂\n".encode(encoding))
    assert columns(path) == {"größe": ["ж"], "b": ["🙂"]}


def test_another_encoding_is_guessed_and_that_is_said(tmp_path):
    path = write(tmp_path, b"a,b\n1,2\ncaf\xe9,3\n\x80 5,4\n")
    table = read_table(path)
    assert list(table.columns["a"]) == ["1", "café", "€ 5"]
    assert "not UTF-8 and was read as cp1252 (Windows, Western Europe), a guess" in table.notes[0]
    assert columns(path, encoding="latin-1")["a"][1] == "café"
    with pytest.raises(InputError, match="no encoding 'klingon'"):
        read_table(path, encoding="klingon")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_recognized(tmp_path, encoding):
    path = write(tmp_path, "a,b\ncafé,3\n".encode(encoding))
    assert columns(path) == {"a": ["café"], "b": ["3"]}


@pytest.mark.parametrize(
    "data",
    [
        b"a,b\n" + "страна,город".encode("cp1251") + b"\n",
        b"a,b\n" + "東京,大阪".encode("shift-jis") + b"\n",
        "größe,b\n1,2\n".encode() + b"damaged \xc3,3\n",
    ],
)
def test_an_encoding_that_cannot_be_told_is_an_error_with_the_byte_and_the_remedy(tmp_path, data):
    with pytest.raises(InputError, match=r"byte 0x.. at offset \d+ \(line \d\).*--encoding cp1252"):
        read_table(write(tmp_path, data))


def test_columns_between_spaces_are_found(tmp_path):
    # The first lines of auto-mpg.data of the UCI repository are aligned like this.
    path = write(tmp_path, "mpg  cyl  weight origin\n18.0 8    3504.  usa\n15.0 8    3693.  usa\n")
    assert columns(path)["weight"] == ["3504.", "3693."]
    words = write(tmp_path, "name\nJohn Smith\nJane Miller\n")
    assert columns(words) == {"name": ["John Smith", "Jane Miller"]}


def test_a_line_of_excel_names_the_separator(tmp_path):
    assert columns(write(tmp_path, "sep=|\na|b\n1,5|2\n")) == {"a": ["1,5"], "b": ["2"]}


def test_a_missing_header_is_noticed_by_the_lines_below(tmp_path):
    # iris.data of the UCI repository begins like this.
    iris = "5.1,3.5,1.4,0.2,Iris-setosa\n4.9,3.0,1.4,0.2,Iris-setosa\n"
    table = read_table(write(tmp_path, iris))
    assert list(table.columns)[-1] == "column 5"
    assert table.n == 2
    assert "the first line is like the others" in table.notes[0]
    years = write(tmp_path, "country,2019,2020\nA,1,2\nB,3,4\n")
    assert list(columns(years)) == ["country", "2019", "2020"]
    codes = write(tmp_path, "red,7,x\nblue,3,x\nred,4,y\n")
    assert read_table(codes).n == 3
    assert read_table(codes, header=True).n == 2


# -- packed ----------------------------------------------------------------------------------------


def test_gzip_and_zip_of_one_table_are_read(tmp_path):
    text = b"a,b\n1,x\n2,y\n"
    wanted = {"a": ["1", "2"], "b": ["x", "y"]}
    assert columns(write(tmp_path, gzip.compress(text), "t.csv.gz")) == wanted
    for name in ("t.csv.zip", "t.zip"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("data/t.csv", text)
            archive.writestr("__MACOSX/data/._t.csv", b"x")
        assert columns(tmp_path / name) == wanted
    with zipfile.ZipFile(tmp_path / "j.zip", "w") as archive:
        archive.writestr("t.jsonl", b'{"a": 1}\n')
    assert columns(tmp_path / "j.zip") == {"a": [1]}


def test_what_cannot_be_unpacked_says_why(tmp_path):
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.csv", b"x\n1\n")
        archive.writestr("b.csv", b"x\n1\n")
    with pytest.raises(InputError, match=r"holds 2 files \(a\.csv, b\.csv\), and exactly one"):
        read_table(tmp_path / "two.zip")
    with pytest.raises(InputError, match="cannot be unpacked"):
        read_table(write(tmp_path, b"nothing packed", "t.csv.gz"))
    with pytest.raises(InputError, match="cannot be unpacked"):
        read_table(write(tmp_path, gzip.compress(b"a,b\n1,2\n")[:-9], "t.csv.gz"))
    with pytest.raises(InputError, match="cannot be unpacked"):
        read_table(write(tmp_path, b"PK nothing", "t.zip"))


@pytest.mark.parametrize("name", ["t.csv.gz", "t.zip"])
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path, name, monkeypatch):
    monkeypatch.setattr("likewise.items.limits.SMALL", 1 << 20)
    data = b"a,b\n" + b"0,0\n" * 2_000_000
    if name.endswith(".gz"):
        write(tmp_path, gzip.compress(data), name)
    else:
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("t.csv", data)
    with pytest.raises(InputError, match="decompression bomb"):
        read_table(tmp_path / name)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("\ufeff", "is empty"),
        ("a,b\n", "has 2 columns and 0 rows; at least one of each is needed"),
        ("a,b\n1,2\n1,2,3\n", r"line 3: 3 fields where the first line has 2"),
        ("a,b\n1,2\n\n1\n", r"line 4: 1 field where the first line has 2"),
        ("a,b,a\n1,2,3\n", "same name: 'a'"),
        ('a,b\n1,"2\n3,4\n', "quotation mark"),
    ],
)
def test_a_csv_that_cannot_be_read_says_where_and_why(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        read_table(write(tmp_path, content))


def test_blank_lines_are_skipped(tmp_path):
    assert columns(write(tmp_path, "a,b\n\n1,2\n\n")) == {"a": ["1"], "b": ["2"]}


def test_a_first_line_of_numbers_is_data_and_that_is_said(tmp_path):
    table = read_table(write(tmp_path, "1.5,2\n3,4\n"))
    assert {k: list(v) for k, v in table.columns.items()} == {
        "column 1": ["1.5", "3"],
        "column 2": ["2", "4"],
    }
    assert "only numbers" in table.notes[0]


def test_column_names_0_1_2_from_pandas_are_names(tmp_path):
    assert columns(write(tmp_path, "0,1\n3,4\n")) == {"0": ["3"], "1": ["4"]}


def test_an_unnamed_column_gets_a_name(tmp_path):
    assert columns(write(tmp_path, ",x\n0,4\n")) == {"column 1": ["0"], "x": ["4"]}


def test_a_cell_of_ten_megabytes_is_read(tmp_path):
    path = write(tmp_path, "a,b\n" + "x" * 10_000_000 + ",1\n")
    assert len(columns(path)["a"][0]) == 10_000_000


def test_an_unknown_column_is_named_with_those_there_are(tmp_path):
    table = read_table(write(tmp_path, "a,b\n1,2\n"))
    with pytest.raises(InputError, match="no column 'c'; it has 'a', 'b'"):
        table.column("c")


def test_json_lines_may_have_different_keys_and_nested_values(tmp_path):
    path = write(tmp_path, '{"a": 1, "b": [1, 2]}\n\n{"a": null, "c": "x\u2028y"}\n', "t.jsonl")
    assert columns(path) == {"a": [1, None], "b": [[1, 2], None], "c": [None, "x\u2028y"]}


def test_a_json_list_of_objects_is_a_table(tmp_path):
    assert columns(write(tmp_path, '[{"a": 1}, {"a": 2}]', "t.json")) == {"a": [1, 2]}


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ('{"a": 1}\n{"a": }\n', "t.jsonl", "line 2, character 7"),
        ('{"a": 1}\n[1]\n', "t.jsonl", "line 2: an object is needed, not list"),
        ("{}\n{}\n", "t.jsonl", "has 0 columns and 2 rows"),
        ('{"a": 1}', "t.json", "a list of objects, not one object"),
        ("[" * 100_000, "t.jsonl", r"t\.jsonl, line 1: .* nested too deeply"),
        ('{"a": ' + "1" * 5000 + "}", "t.jsonl", "line 1"),
    ],
)
def test_json_that_cannot_be_read_says_where(tmp_path, content, name, message):
    with pytest.raises(InputError, match=message):
        read_table(write(tmp_path, content, name))


def test_what_cannot_be_shown_of_a_cell_is_written_as_an_escape():
    assert as_text("a\ud800b\x1b[2J").encode() == rb"a\ud800b\x1b[2J"
    assert as_text("two\r\nlines\tand more") == "two\r\nlines\tand more"


def test_parquet_is_read_with_its_types(tmp_path):
    pytest.importorskip("pyarrow", reason='pip install "likewise[tables]"')
    import pyarrow.parquet

    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"a": [1, None], "b": ["x", "y"]}), path)
    assert columns(path) == {"a": [1, None], "b": ["x", "y"]}
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read_table(path)


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"likewise\[tables\]"):
        read_table(write(tmp_path, "x", "t.parquet"))


@given(st.binary(max_size=200), st.sampled_from(["t.csv", "t.jsonl", "t.json", "t.tsv"]))
def test_any_bytes_are_a_table_or_a_clear_error(tmp_path_factory, data, name):
    path = Path(tmp_path_factory.getbasetemp()) / f"any-{name}"
    path.write_bytes(data)
    try:
        table = read_table(path)
    except InputError as error:
        assert str(path) in str(error)  # noqa: PT017
    else:
        assert all(len(column) == table.n for column in table.columns.values())


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ("51,setosa\n49,virginica\n", "'51'"),
        ("red,setosa\nblue,setosa\n", "'setosa'"),
        ("length,species\n5.1,setosa\n4.9,setosa\n", None),
        ("0,1\n5.1,setosa\n", None),
        ("length,\n5.1,\n", None),
    ],
)
def test_a_first_line_that_looks_like_a_row_is_hinted_at(tmp_path, content, value):
    path = write(tmp_path, content)
    notes = read_table(path).notes
    hints = [note for note in notes if "--no-header" in note]
    assert len(hints) == (value is not None)
    assert value is None or value in hints[0]
    assert read_table(path, header=True).notes == ()
    assert read_table(path, header=False).n == read_table(path).n + 1


def write_parquet(path, columns, **options):
    pyarrow = pytest.importorskip("pyarrow", reason='pip install "likewise[tables]"')
    parquet = pytest.importorskip("pyarrow.parquet", reason='pip install "likewise[tables]"')
    parquet.write_table(pyarrow.table(columns), path, **options)
    return path


def test_a_parquet_file_with_more_cells_than_memory_is_refused_unread(tmp_path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet", reason='pip install "likewise[tables]"')
    path = write_parquet(tmp_path / "t.parquet", {"a": [0] * 100_000})
    assert path.stat().st_size < 10_000
    monkeypatch.setattr("likewise.items.limits.available_memory", lambda: 10_000_000)
    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", None)
    with pytest.raises(InputError, match=r"would take 9\.\d MiB of memory"):
        read_table(path)


def test_a_value_that_many_rows_share_does_not_fill_the_memory(tmp_path, monkeypatch):
    path = write_parquet(tmp_path / "t.parquet", {"a": ["x" * 10_000] * 1000})
    assert path.stat().st_size < 10_000
    monkeypatch.setattr("likewise.items.limits.available_memory", lambda: 1_000_000)
    with pytest.raises(InputError, match=r"would take \d+\.\d MiB of memory"):
        read_table(path)


def test_a_parquet_file_of_several_batches_is_read_whole(tmp_path, monkeypatch):
    path = write_parquet(tmp_path / "t.parquet", {"a": list(range(900))}, row_group_size=100)
    monkeypatch.setattr("likewise.items.limits.available_memory", lambda: 400_000)
    assert columns(path) == {"a": list(range(900))}
