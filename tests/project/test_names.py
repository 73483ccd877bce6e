"""A column of names: candidates, choices, the table of old and new names, and the next file."""

import csv

import pytest

from likewise import Answer
from likewise.errors import InputError
from likewise.items import open_items
from likewise.project import add_known, export, open_project
from likewise.project.naming import alike_names_of, settle_names

pytest.importorskip("sparse_dot_topn", reason='pip install "likewise[names]"')

NAMES = {
    "Acme Inc": 5,
    "ACME  inc": 1,
    "Acme Incorporated": 2,
    "Acme Incorporatd": 1,
    "Zenith Ltd": 4,
    "Zenith Limited": 3,
    "Zenth Ltd": 1,
    "Bolt": 2,
    "=Bolt": 1,
}


def written(path, names):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["company", "revenue"])
        writer.writerows([name, 1] for name, n in names.items() for _ in range(n))
        writer.writerow(["", 1])
    return path


@pytest.fixture
def begin(tmp_path):
    opened = []

    def begin(file="customers.csv", names=NAMES, **options):
        path = written(tmp_path / file, names)
        opened.append(open_project(path, options={"names": "company", **options}).project)
        return opened[-1]

    yield begin
    for project in opened:
        project.close()


def answer_all(project):
    """Answer by the first letter; return how many questions that took."""
    n = 0
    while (query := project.ask()) is not None:
        n += 1
        letters = [project.ids[group[0]].strip("=")[0] for group in query.groups]
        own = project.ids[query.row].strip("=")[0]
        chosen = letters.index(own) if own in letters else Answer.NONE
        project.choose(chosen, number=query.number, position=project.position)
    return n


def table(project):
    text = export(project, "names-csv").decode()
    return [tuple(row.values()) for row in csv.DictReader(text.splitlines())]


def test_items_are_the_distinct_names_the_frequent_ones_first(tmp_path):
    items = open_items(written(tmp_path / "a.csv", NAMES), names="company")
    assert items.kind == "names"
    assert items.ids[:4] == ("Acme Inc", "Zenith Ltd", "Zenith Limited", "Acme Incorporated")
    assert items.columns()["count"][:4] == [5, 4, 3, 2]
    assert items.heading(0) == "5 rows"
    assert items.notes == ("1 row without company left out",)


def test_names_are_asked_by_choices_and_case_and_spaces_make_no_difference(begin):
    project = begin()
    assert project.session.strategy.questions == "choices"
    labels = dict(zip(project.ids, project.session.labels.tolist(), strict=True))
    assert labels["Acme Inc"] == labels["ACME  inc"]
    assert len(set(labels.values())) == len(NAMES) - 1
    answer_all(project)
    assert table(project) == [
        ("Acme Inc", "Acme Inc", "5", "said"),
        ("Zenith Ltd", "Zenith Ltd", "4", "said"),
        ("Zenith Limited", "Zenith Ltd", "3", "said"),
        ("Acme Incorporated", "Acme Inc", "2", "said"),
        ("Bolt", "Bolt", "2", "said"),
        ("'=Bolt", "Bolt", "1", "said"),
        ("ACME  inc", "Acme Inc", "1", "learned"),
        ("Acme Incorporatd", "Acme Inc", "1", "said"),
        ("Zenth Ltd", "Zenith Ltd", "1", "said"),
    ]


def test_the_next_file_asks_only_about_new_names_and_keeps_the_new_ones(begin, tmp_path):
    first = begin()
    n_first = answer_all(first)
    group = next(g for g in first.groups() if "Acme Inc" in {first.ids[r] for r in g.standing})
    first.name(group.id, "Acme Corporation", position=first.position)
    (tmp_path / "known.csv").write_bytes(export(first, "names-csv"))
    later = {**NAMES, "Acme Incorporated": 50, "Acme Incorporation": 9, "Other": 1}
    del later["Zenth Ltd"]
    second = begin("next.csv", later)
    assert add_known(second, tmp_path / "known.csv") > 0
    assert add_known(second, tmp_path / "known.csv") == 0
    assert second.ids[second.ask().row] == "Acme Incorporation"
    assert answer_all(second) < n_first
    new = {old: name for old, name, *_ in table(second)}
    assert new["Acme Incorporation"] == new["Acme Incorporated"] == "Acme Corporation"
    assert new["Zenith Limited"] == "Zenith Ltd"


def test_bounds_decide_what_is_asked(begin):
    wide, narrow = begin("a.csv"), begin("b.csv", different_below=0.6)
    assert narrow.session.progress.at_most < wide.session.progress.at_most
    joined = begin("c.csv", same_above=0.5)
    assert joined.session.n_groups < len(NAMES) - 1


def test_bad_columns_are_refused(tmp_path):
    path = written(tmp_path / "a.csv", {"one": 3})
    with pytest.raises(InputError, match="has 1 name; to compare names, at least 2"):
        open_items(path, names="company")
    with pytest.raises(InputError, match="no column 'firm'"):
        open_items(path, names="firm")
    with pytest.raises(InputError, match="--same-above is for names"):
        open_items(path, same_above=0.5)


def listed(project, least=0.5):
    return [
        [[project.ids[row] for row in part] for part in one.parts]
        for one in alike_names_of(project, least)
    ]


def test_names_that_may_be_one_are_listed_together_once(begin):
    project = begin()
    found = listed(project)
    names = [name for one in found for part in one for name in part]
    assert len(names) == len(set(names))
    assert all(len(one) > 1 for one in found)
    # What is joined without a question is one part.
    acme = next(one for one in listed(project, 0.4) if "Acme Inc" in one[0])
    assert acme[0] == ["Acme Inc", "ACME  inc"]
    likeness = [one.likeness for one in alike_names_of(project, 0.5)]
    assert likeness == sorted(likeness, reverse=True)
    assert len(listed(project, 0.95)) < len(found)


def test_names_are_merged_and_kept_apart_and_each_is_one_thing_to_undo(begin):
    project = begin()
    before = listed(project)
    places = {name: row for row, name in enumerate(project.ids)}
    rows = [places["Acme Inc"], places["Acme Incorporated"], places["Acme Incorporatd"]]
    settle_names(project, rows, are_one=True, name="Acme Inc", position=project.position)
    assert len(project.store.read(0)) == 1
    assert {new for old, new, *_ in table(project) if old.casefold()[:4] == "acme"} == {"Acme Inc"}
    others = [places["Zenith Ltd"], places["Zenith Limited"]]
    settle_names(project, others, are_one=False, name="", position=project.position)
    apart = [one for one in listed(project, 0.4) if ["Zenith Ltd"] in one]
    assert all(["Zenith Limited"] not in one for one in apart)
    settle_names(project, [others[0], places["Zenth Ltd"]], are_one=True, name="Zenith", position=2)
    assert dict(row[:2] for row in table(project))["Zenth Ltd"] == "Zenith"
    for _ in range(4):
        project.undo(position=project.position)
    assert listed(project) == before
    with pytest.raises(InputError, match="two names"):
        settle_names(project, [0], are_one=True, name="", position=project.position)


def test_other_items_have_no_names_to_merge(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("n\n" + "".join(f"{k}\n" for k in range(9)))
    project = open_project(path, session=tmp_path / "s").project
    with pytest.raises(InputError, match="names of a column"):
        alike_names_of(project, 0.5)
    project.close()
