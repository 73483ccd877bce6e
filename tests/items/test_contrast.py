"""An item beside groups, field by field."""

from likewise.items.tables import contrast, n_looked_at


def view(size=None, color="", note="", at=None):
    fields = [["note", note], ["color", color], ["size", "" if size is None else str(size)]]
    return {"fields": fields, "scales": {} if at is None else {"size": at}}


SMALL = [view(k, "red", f"a long remark number {k} about nothing", k / 10) for k in (1, 2, 3)]
LARGE = [view(k, "blue" if k > 7 else "red", "", k / 10) for k in (7, 8, 9)]


def test_what_tells_the_groups_apart_comes_first():
    fields = contrast(SMALL[0], [SMALL, LARGE])
    assert [field["name"] for field in fields] == ["size", "color", "note"]
    assert fields[0]["tells"] > fields[1]["tells"] > fields[2]["tells"] == 0


def test_a_group_of_numbers_has_its_spread_and_the_item_its_mark():
    size = contrast(SMALL[0], [SMALL, LARGE])[0]
    assert (size["value"], size["at"]) == ("1", 0.1)
    assert [entry["text"] for entry in size["groups"]] == ["2", "8"]
    low, middle, high = (size["groups"][1][name] for name in ("low", "middle", "high"))
    assert 0.7 <= low < middle == 0.8 < high <= 0.9


def test_categories_are_shares_and_missing_values_are_counted():
    color = contrast(view(color=""), [LARGE, [view(), view(color="red")]])
    field = next(f for f in color if f["name"] == "color")
    assert field["value"] is None
    assert field["groups"][0]["shares"] == [["blue", 0.667], ["red", 0.333]]
    assert [entry["n_missing"] for entry in field["groups"]] == [0, 1]
    size = next(f for f in color if f["name"] == "size")
    assert size["groups"][1] == {"text": None, "n_missing": 2}


def test_fewer_members_are_looked_at_where_there_are_many_fields():
    assert n_looked_at(3) == 60
    assert n_looked_at(200) == 20
    assert n_looked_at(5000) == 10
