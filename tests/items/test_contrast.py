"""An item beside groups, field by field."""

import cProfile
from pathlib import Path
from typing import Any

import numpy as np

from likewise.items.fields import Fields
from likewise.items.tables import Table

SIZES = ["1", "2", "3", "7", "8", "9", "", "5"]
COLORS = ["red", "red", "red", "red", "blue", "blue", "NA", "red"]
NOTES = [f"a long remark number {k} about nothing" for k in range(3)] + [""] * 5
FIELDS = Fields(
    Table(Path("t.csv"), {"note": NOTES, "color": COLORS, "size": SIZES}, 8),
    ["note", "color", "size"],
)
SMALL, LARGE = [0, 1, 2], [3, 4, 5]


def test_what_tells_the_groups_apart_comes_first():
    fields = FIELDS.contrast(0, [SMALL, LARGE])
    assert [field["name"] for field in fields] == ["size", "color", "note"]
    assert fields[0]["tells"] > fields[1]["tells"] > fields[2]["tells"] == 0
    assert fields[2]["groups"] == [
        {"n_missing": 0, "texts": NOTES[:3]},
        {"n_missing": 3, "texts": []},
    ]


def test_a_group_of_numbers_has_its_spread_and_the_item_its_mark():
    size = FIELDS.contrast(1, [SMALL, LARGE])[0]
    assert (size["value"], size["at"]) == ("2", 0.125)
    assert [entry["text"] for entry in size["groups"]] == ["2", "8"]
    low, middle, high = (size["groups"][1][name] for name in ("low", "middle", "high"))
    assert 0.75 <= low < middle == 0.875 < high <= 1.0


def test_categories_are_shares_and_missing_values_are_counted():
    fields = {field["name"]: field for field in FIELDS.contrast(6, [LARGE, [6, 7], [6]])}
    assert fields["color"]["value"] is None
    groups = fields["color"]["groups"]
    assert groups[0]["shares"] == [["blue", 0.667], ["red", 0.333]]
    assert [entry["n_missing"] for entry in groups] == [0, 1, 1]
    assert groups[2]["shares"] == []
    assert fields["size"]["at"] is None
    assert fields["size"]["groups"][2] == {"text": None, "n_missing": 1}


def test_values_that_are_no_texts_are_counted_as_they_are_shown():
    table = Table(Path("t.json"), {"tags": [["a"], ["a"], None, {"b": 1}]}, 4)
    (tags,) = Fields(table, ["tags"]).contrast(0, [[0, 1], [2, 3]])
    assert tags["value"] == '["a"]'
    assert tags["groups"][0] == {"n_missing": 0, "shares": [['["a"]', 1.0]]}
    assert tags["groups"][1] == {"n_missing": 1, "shares": [['{"b": 1}', 1.0]]}


def test_fewer_members_are_looked_at_where_there_are_many_fields():
    for n_fields, n_rows in ((3, 60), (200, 20), (5000, 10)):
        columns: dict[str, Any] = {f"c{k}": ["x"] for k in range(n_fields)}
        assert Fields(Table(Path("t.csv"), columns, 1), list(columns)).n_compared == n_rows


def test_spreads_are_quantiles_of_what_is_known_however_much_that_is():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 4)).round(3)
    values[rng.random((30, 4)) < [0.0, 0.2, 0.9, 0.0]] = np.nan
    columns: dict[str, Any] = {
        f"c{k}": ["" if np.isnan(v) else f"{v}" for v in values[:, k]] for k in range(4)
    }
    fields = Fields(Table(Path("t.csv"), columns, 30), list(columns))
    groups = [list(range(12)), list(range(12, 30))]
    told = {field["name"]: field for field in fields.contrast(0, groups)}
    for k, name in enumerate(columns):
        column = values[:, k]
        shares = (column - np.nanmin(column)) / (np.nanmax(column) - np.nanmin(column))
        widths, middles = [], []
        for rows, entry in zip(groups, told[name]["groups"], strict=True):
            known = shares[rows][np.isfinite(column[rows])]
            assert entry["n_missing"] == len(rows) - len(known)
            assert (entry["text"] is None) == (not len(known))
            if len(known):
                spread = [entry["low"], entry["middle"], entry["high"]]
                np.testing.assert_allclose(spread, np.quantile(known, (0.1, 0.5, 0.9)), atol=1e-4)
                widths.append(known.std())
                middles.append(entry["middle"])
        if len(widths) == 2:
            tells = np.std(middles) / (np.mean(widths) + 0.1)
            assert told[name]["tells"] == round(float(tells), 4)


def test_many_columns_of_numbers_are_summed_up_at_once():
    columns: dict[str, Any] = {f"c{k}": [str(k + i * i) for i in range(60)] for k in range(100)}
    fields = Fields(Table(Path("t.csv"), columns, 60), list(columns))
    groups = [list(range(10 * k, 10 * k + 10)) for k in range(6)]
    fields.contrast(0, groups)
    profile = cProfile.Profile()
    profile.runcall(fields.contrast, 0, groups)
    # One column and one group after the other took 67 calls for each.
    n_calls = sum(entry.callcount for entry in profile.getstats())
    assert n_calls < 35 * len(columns) * len(groups)
