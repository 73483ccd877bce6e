"""How the cells of tables as people have them are read."""

import datetime as dt
from pathlib import Path

import numpy as np
import pytest

from likewise.errors import InputError
from likewise.items import open_items
from likewise.items.columns import find_reading, read

# Rows of "penguins-raw" of palmerpenguins (CC0).
PENGUINS = """\
studyName,Sample Number,Species,Individual ID,Clutch Completion,Date Egg,Body Mass (g),Comments
PAL0708,1,Adelie Penguin (Pygoscelis adeliae),N1A1,Yes,2007-11-11,3750,Not enough blood.
PAL0708,2,Adelie Penguin (Pygoscelis adeliae),N1A2,Yes,2007-11-11,3800,NA
PAL0708,3,Adelie Penguin (Pygoscelis adeliae),N2A1,Yes,2007-11-16,3250,NA
PAL0708,4,Adelie Penguin (Pygoscelis adeliae),N2A2,Yes,2007-11-16,NA,Adult not sampled.
PAL0708,7,Adelie Penguin (Pygoscelis adeliae),N4A1,No,2007-11-15,3625,Nest not seen full.
"""


def given(tmp_path, text, name="t.csv", **options):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return open_items(path, cache=False, **options)


@pytest.mark.parametrize(
    ("cells", "numbers", "unit"),
    [
        (["$1,250.00", "$80.50"], [1250, 80.5], "$"),
        (["US$ 5", "US$ -7"], [5, -7], "US$"),
        (["EUR 3.50", "EUR 4"], [3.5, 4], "EUR"),
        (["3,50 €", "1.204,99 €"], [3.5, 1204.99], "€"),
        (["12 kg", "7.5kg"], [12, 7.5], "kg"),
        (["12 km/h", "3 km/h"], [12, 3], "km/h"),
        (["30 °C", "-4°C"], [30, -4], "°C"),
        (["12.5 sq ft", "3 sq ft"], [12.5, 3], "sq ft"),
        (["5 %", "10.5%"], [5, 10.5], "%"),
        (["12 kg", "500 g"], [12, 0.5], "kg"),
        (["1.5 h", "45 min"], [1.5, 0.75], "h"),
        (["6 ft", "6 in"], [6, 0.5], "ft"),
        (["1,234,567", "890"], [1234567, 890], None),
        (["12 345", "1\u202f200,5"], [12345, 1200.5], None),
        (["1'000", "2'500.25"], [1000, 2500.25], None),
        (["1,5", "2"], [1.5, 2], None),
        (["900k", "1.2M"], [9e5, 1.2e6], "magnitudes"),
        (["(1,200)", "300"], [-1200, 300], None),
        (["\u22125", "4"], [-5, 4], None),
        (["1e5", "2E-3"], [1e5, 2e-3], None),
    ],
)
def test_amounts_are_numbers(cells, numbers, unit):
    reading = find_reading([*cells, "", None, "NA"])
    assert reading is not None
    assert reading.values[:2].tolist() == numbers
    assert np.isnan(reading.values[2:]).all()
    assert (reading.way["as"], reading.way.get("unit")) == ("number", unit)
    assert read(cells, reading.way)[0].tolist() == numbers


@pytest.mark.parametrize(
    "cells",
    [
        ["12 kg", "500 ml"],
        ["$ 5", "5 €"],
        ["5%", "7"],
        ["1st", "2nd"],
        ["12-14", "13"],
        ["192.168.1.1", "10.0.0.1"],
        ["+49 30 123", "+49 30 4444"],
        ["1.2.3", "1.2.4"],
        ["N1A1", "N1A2"],
        ["1" * 70 + "x", "2"],
    ],
)
def test_what_only_looks_like_amounts_is_text(cells):
    assert find_reading(cells) is None


@pytest.mark.parametrize(
    "cells", [["yes", "No"], ["TRUE", "false"], ["ja", "nein"], ["Y", "n"], ["oui", "non"]]
)
def test_truth_values_are_one_and_zero(cells):
    reading = find_reading([*cells, "NA"])
    assert reading is not None
    assert reading.values[:2].tolist() == [1, 0]
    assert find_reading([*cells, "maybe"]) is None


@pytest.mark.parametrize(
    ("cells", "seconds"),
    [
        (["14:30", "0:05"], [52200, 300]),
        (["2:30 PM", "12:05 AM"], [52200, 300]),
        ([dt.time(14, 30), dt.time(0, 5)], [52200, 300]),
    ],
)
def test_times_of_day_are_read(cells, seconds):
    reading = find_reading(cells)
    assert reading is not None
    assert (reading.way["as"], reading.values.tolist()) == ("hour", seconds)


@pytest.mark.parametrize(
    ("cells", "dates"),
    [
        (
            ["Sat, 29 Mar 1958 23:30:00 -0100", "Sat, 05 Apr 1958 00:00:00 +0000"],
            ["1958-03-30", "1958-04-05"],
        ),
        (
            ["Sat, 29 Mar 1958 12:00:00 GMT", "Sat, 05 Apr 1958 00:00:00 GMT"],
            ["1958-03-29", "1958-04-05"],
        ),
        (["19580329", "19580405"], ["1958-03-29", "1958-04-05"]),  # co2 of statsmodels
        ([19580329.0, 19580405.0], ["1958-03-29", "1958-04-05"]),  # as pandas has them, with gaps
        (["1974Q1", "1974Q4"], ["1974-01-01", "1974-10-01"]),  # danish_data of statsmodels
        (["1981 Q1", "Q2 1981"], ["1981-01-01", "1981-04-01"]),
        (["Jan-1-1995", "Feb-1-1995"], ["1995-01-01", "1995-02-01"]),  # elec_equip of statsmodels
        (["6-Aug-09", "10-Aug-98"], ["2009-08-06", "1998-08-10"]),
        (["25/11/63", "5/11/72"], ["1963-11-25", "1972-11-05"]),
        (["1987 Jan", "1987 Feb"], ["1987-01-01", "1987-02-01"]),
        (["Feb-2018", "Jan-2018"], ["2018-02-01", "2018-01-01"]),
        (["8/2009", "11/2010"], ["2009-08-01", "2010-11-01"]),
    ],
)
def test_dates_of_real_frames_are_read(cells, dates):
    reading = find_reading([*cells, None])
    assert reading is not None
    assert reading.way["as"] == "date"
    days = reading.values[:2].astype("datetime64[s]").astype("datetime64[D]")
    assert [str(day) for day in days] == dates
    assert read(cells, reading.way)[0].tolist() == reading.values[:2].tolist()


@pytest.mark.parametrize(
    "cells", [["10000001", "20000102"], ["20230231", "20230301"], ["123", "1"]]
)
def test_other_whole_numbers_are_no_dates(cells):
    reading = find_reading(cells)
    assert reading is not None
    assert reading.way["as"] == "number"


def test_durations_may_be_longer_than_a_day():
    reading = find_reading(["38:31:00", "9:05:30", None])  # Marathon of Stat2Data
    assert reading is not None
    assert (reading.way["as"], reading.values[:2].tolist()) == ("span", [138660, 32730])
    assert find_reading(["61:30", "2:05"]).values.tolist() == [3690, 125]
    assert find_reading(["38:31:00", "9:05"]) is None


def test_a_new_row_has_the_units_of_the_column():
    reading = find_reading(["12 kg", "7 kg"])
    assert reading is not None
    assert read(["500 g", "3", "2 lb"], reading.way)[0].tolist() == [0.5, 3, 0.90718474]
    assert read(["5 ml", "$5"], reading.way)[1] == [0, 1]


def column(tmp_path, name, cells, **options):
    """Return the features of a table with this column and one of numbers."""
    lines = [f"{cell}\t{k * k % 7}" for k, cell in enumerate(cells)]
    return given(tmp_path, f"{name}\tother\n" + "\n".join(lines), "t.tsv", **options).features()


def test_a_few_cells_do_not_make_texts_of_numbers(tmp_path):
    numbers = [str(k + 0.5) for k in range(60)]
    found = column(tmp_path, "size", [*numbers, "unknown", "unknown", "unknown", "unknown"])
    assert found.X.shape[1] == 2
    assert "size: row 60 is 'unknown' (and 3 others), no number, counted as missing" in "\n".join(
        found.notes
    )
    assert column(tmp_path, "size", [*numbers, "<1", "12 to 14"]).X.shape[1] == 2
    dates = [f"{1 + k // 28}/{1 + k % 28}/2009" for k in range(60)]
    found = column(tmp_path, "breach", [*dates, "1/2/2009 - 2/3/2009"])  # breaches of Ecdat
    assert "dates as points in time, scaled to [0, 1]: breach" in found.description
    assert "row 60 is '1/2/2009 - 2/3/2009', no date" in "\n".join(found.notes)
    many = [*numbers, *(f"N{k}A" for k in range(5))]
    assert "size: left out, its values are ids or codes" in "\n".join(
        column(tmp_path, "size", many).notes
    )
    # opt of medicaldata, which SAS has written
    assert column(tmp_path, "size", ["1.5", ".", "2.5"] * 4).block("numbers").shape[1] == 2


def test_different_units_are_left_out_and_named(tmp_path):
    cells = [f"${k}" if k % 2 else f"€{k}" for k in range(40)]
    found = column(tmp_path, "price", cells)
    remedy = "To compare the numbers alone: --columns price:number"
    assert f"price: left out, its units differ (€, $). {remedy}" in found.notes
    numbers = column(tmp_path, "price", cells, columns=["price:number"]).block("numbers")[:, 0]
    assert numbers.tolist() == pytest.approx([k / 39 for k in range(40)])


def test_years_are_no_count_of_the_rows(tmp_path):
    years = [str(1871 + k) for k in range(20)]  # nile of statsmodels
    for name in ("year", "YEAR", "model year", "Jahr"):
        assert column(tmp_path, name, years).X.shape[1] == 2
    assert column(tmp_path, "obs", years).X.shape[1] == 1
    identifiers = [str(7 * k + 4) for k in range(20)]  # fair_pt of statsmodels
    assert column(tmp_path, "identifier", identifiers).X.shape[1] == 1


def test_dates_that_can_be_read_in_two_ways_are_called_a_guess():
    guess, certain = find_reading(["1/2/2020", "3/4/2020"]), find_reading(["1/2/2020", "3/14/2020"])
    assert guess is not None
    assert certain is not None
    assert "the day was read first" in guess.remarks[0]
    assert certain.remarks == ()


def test_a_semicolon_file_with_decimal_commas_has_points_between_thousands(tmp_path):
    items = given(tmp_path, "ort;fläche;preis\nA;1.234;3,5\nB;2.500;4,25\nC;900;1,5\n")
    assert items.features().block("numbers").max(axis=0).tolist() == [1, 1]
    assert dict(items.view(0)["scales"])["fläche"] == pytest.approx((1234 - 900) / 1600, abs=1e-4)


def test_a_semicolon_file_with_points_keeps_them(tmp_path):
    items = given(tmp_path, "acid;ph\n7.125;3.51\n7.500;3.2\n8.25;3.0\n")
    assert items.view(1)["scales"]["acid"] == pytest.approx(1 / 3, abs=1e-4)


def test_penguins_as_they_were_noted_down(tmp_path):
    items = given(tmp_path, PENGUINS, encoder="words", columns=["Comments:text"])
    features = items.features()
    assert [aspect.name for aspect in features.aspects] == [
        "numbers", "categories", "Comments"
    ]  # fmt: skip
    about = features.description
    assert "numbers scaled to [0, 1]: Sample Number, Clutch Completion, Body Mass (g)" in about
    assert "dates as points in time, scaled to [0, 1]: Date Egg" in about
    assert features.block("numbers")[:, 1].tolist() == [1, 1, 1, 1, 0]
    assert "studyName: left out, all its values are equal" in features.notes


def test_ids_and_codes_are_left_out_and_named(tmp_path):
    lines = [f"{7000 + k * 17},{k + 5},{k:08x},N{k}A{k % 2},{k % 4}" for k in range(40)]
    items = given(tmp_path, "customer_id,row,hash,Individual ID,size\n" + "\n".join(lines))
    features = items.features()
    assert features.X.shape == (40, 1)
    notes = "\n".join(features.notes)
    assert (
        "customer_id: left out, it is an id. To compare by it: --columns customer_id:number"
        in notes
    )
    assert "row: left out, it only counts the rows" in notes
    assert "hash: left out, its values are ids or codes" in notes
    assert "Individual ID: left out, its values are ids or codes" in notes


def test_a_column_of_codes_is_compared_where_there_is_nothing_else(tmp_path):
    items = given(tmp_path, "code\n" + "\n".join(f"N{k}A{k % 2}" for k in range(40)))
    assert items.features().X.shape[0] == 40
    assert items.features().notes == ()


def test_cycles_of_the_calendar_are_an_aspect(tmp_path):
    hours = [dt.datetime(2010, 1, 1) + dt.timedelta(hours=37 * k) for k in range(300)]
    lines = [f"{when:%Y/%m/%d %H:%M},{k % 3}" for k, when in enumerate(hours)]
    features = given(tmp_path, "date,temp\n" + "\n".join(lines)).features()
    assert [aspect.name for aspect in features.aspects] == ["numbers", "calendar"]
    assert "cycles of the calendar: date (the month, the weekday, the hour)" in features.description
    X = features.block("calendar")
    assert np.allclose((X**2).sum(axis=1), 3 / 12)
    same_weekday = [k for k, when in enumerate(hours) if when.weekday() == 2 and when.hour == 0]
    assert np.ptp(X[same_weekday, 2:4], axis=0).max() < 1e-9


def test_few_dates_and_first_days_of_months_have_no_cycles_that_say_nothing(tmp_path):
    few = "".join(f"2020-01-{k:02d},{k}\n" for k in range(1, 12))
    assert [a.name for a in given(tmp_path, "day,x\n" + few).features().aspects] == ["numbers"]
    months = "".join(f"{2000 + k // 12}-{k % 12 + 1:02d}-01,{k % 5}\n" for k in range(60))
    features = given(tmp_path, "month,x\n" + months).features()
    assert "month (the month)" in features.description


def test_times_of_day_close_to_midnight_are_near(tmp_path):
    items = given(tmp_path, "at\n23:59\n00:01\n12:00\n")
    a, b, noon = items.features().X
    assert np.linalg.norm(a - b) < 0.02 < np.linalg.norm(a - noon)


# -- what a person says of columns ---------------------------------------------------------------


def test_a_wrong_guess_is_overruled_by_one_option(tmp_path):
    ages = ["about 40" if k == 3 else 20 + k for k in range(12)]
    text = "age,zip,when,code,notes\n" + "".join(
        f"{age},{10115 + k % 3},{k % 9 + 1}.{k % 3 + 1}.2020,X{k},x{k % 2}\n"
        for k, age in enumerate(ages)
    )
    items = given(tmp_path, text, columns=["age:number", "zip:category", "code:ignore"])
    features = items.features()
    about = features.description
    assert "numbers scaled to [0, 1]: age;" in about
    assert "categories one-hot: zip, notes" in about
    assert "dates as points in time, scaled to [0, 1]: when" in about
    assert "age: row 3 is 'about 40', no number, counted as missing" in "\n".join(features.notes)
    assert "code" not in about
    assert np.array_equal(items.describe(items).X, features.X)
    same = given(
        tmp_path, text, columns={"age": "number", "zip": "category", "code": "ignore"}
    ).features()
    assert np.array_equal(same.X, features.X)


def test_columns_without_a_type_choose_and_those_with_one_do_not(tmp_path):
    text = "a,b,c\n1,2,x\n3,4,y\n2,2,x\n"
    assert given(tmp_path, text, columns=["a:category"]).features().X.shape == (3, 6)
    assert given(tmp_path, text, columns=["b", "a:category"]).features().X.shape == (3, 4)
    assert given(tmp_path, text, columns=["b", "a:ignore"]).features().X.shape == (3, 1)
    colon = "a:number,b\nx,1\ny,2\n"  # a name that looks like a type
    assert given(tmp_path, colon, columns=["a:number"]).features().X.shape == (2, 2)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["agge:number"], "no column 'agge'; it has 'age', 'city'. Did you mean age?"),
        (["age:numbre"], "one of number, category, date, text, ignore, not 'numbre'. Did you mean"),
        ({"age": "float"}, "a column is one of number"),
        (["city:number"], "no cell of column 'city' .* row 0 is 'Rome'. Call it a category"),
        (["city:date"], "no cell of column 'city' .* can be read as a date"),
        (["age:ignore", "city:ignore"], "tells its rows apart"),
    ],
)
def test_what_a_column_cannot_be_is_refused_with_the_remedy(tmp_path, columns, message):
    with pytest.raises(InputError, match=message):
        given(tmp_path, "age,city\n20,Rome\n30,Oslo\n", columns=columns).features()


def test_new_rows_are_read_as_the_first_ones(tmp_path):
    items = given(tmp_path, "mass;ok\n1.200,5 kg;ja\n0,5 kg;nein\n3 kg;ja\n")
    assert items.features().notes == ()
    new = tmp_path / "new.csv"
    new.write_text("mass;ok\n1.200,5 kg;nein\n", encoding="utf-8")
    assert items.describe(new).X.tolist() == [[1.0, 0.0]]
    new.write_text("mass;ok\nmuch;nein\n", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"'mass' .* is not numbers as in the fit: row 0 is 'much'"
    ):
        items.describe(new)


# -- whole frames ----------------------------------------------------------------------------------

FRAMES = {
    "seattle-weather.csv": "; cycles of the calendar: date (the month, the weekday)",
    "la-riots.csv": "categories one-hot: gender, race, type",
    "airports.csv": "numbers scaled to [0, 1]: latitude, longitude",
    "stocks.csv": "dates as points in time, scaled to [0, 1]: date",
    "cars.json": "dates as points in time, scaled to [0, 1]: Year",
    "sf-temps.csv": "cycles of the calendar: date (the weekday, the hour)",
}


@pytest.mark.parametrize("name", FRAMES)
def test_practice_frames_are_read_as_a_person_would(name, tmp_path):
    vega_datasets = pytest.importorskip("vega_datasets", reason="pip install vega_datasets")
    source = Path(vega_datasets.__file__).parent / "_data" / name
    items = open_items(source, encoder="words" if name in TEXTS else None, cache=False)
    features = items.features()
    assert FRAMES[name] in features.description
    assert [a.name for a in features.aspects if a.name not in OURS] == TEXTS.get(name, [])
    assert np.isfinite(features.X).all()


OURS = ("numbers", "categories", "calendar")
TEXTS = {
    "la-riots.csv": ["first_name", "last_name", "address", "neighborhood"],
    "airports.csv": ["name", "city", "state"],
    "cars.json": ["Name"],
}
