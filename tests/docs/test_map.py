"""The map of the rooms, and what the page about them names."""

import re
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SOURCE = DOCS.parent / "src" / "likewise"
PAGE = (DOCS / "architecture.md").read_text("utf-8")


@pytest.fixture(scope="module")
def made():
    return runpy.run_path(str(DOCS / "make_map.py"))


def test_the_map_is_what_the_code_imports_and_what_an_answer_passes(made):
    drawn = (DOCS / "pictures" / "rooms.svg").read_text("utf-8")
    assert drawn == made["drawing"](), "python docs/make_map.py docs/pictures/rooms.svg"


def test_the_map_refuses_imports_that_point_up_and_rooms_without_a_place(made):
    used = made["rooms"]()
    with pytest.raises(SystemExit, match="core imports project, which is not below it"):
        made["check_places"]({**used, "core": {"project"}})
    with pytest.raises(SystemExit, match="attic"):
        made["check_places"]({**used, "attic": set()})


def test_the_map_refuses_steps_that_no_answer_takes(made):
    steps = [(step.module, step.function) for step in made["STEPS"]]
    made["check_steps"](steps)
    with pytest.raises(SystemExit, match=r"Learner\.learn"):
        made["check_steps"]([step for step in steps if step[1] != "Learner.learn"])
    with pytest.raises(SystemExit, match="before the step above it"):
        made["check_steps"](steps[::-1])


def test_ten_typical_changes_name_one_module_each():
    (table,) = re.findall(r"## Ten typical changes\n.*?\|---\|---\|\n(.*?)\n\n", PAGE, re.S)
    named = [re.findall(r"`([\w/]+\.py)`", line) for line in table.splitlines()]
    assert len(named) == 10
    assert all(len(modules) == 1 and (SOURCE / modules[0]).is_file() for modules in named)


def test_every_module_that_the_page_names_is_there():
    named = set(re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", PAGE))
    there = [SOURCE, SOURCE.parent, DOCS.parent]
    assert [name for name in named if not any((root / name).is_file() for root in there)] == []


def test_the_vocabulary_is_short_and_has_every_word_once():
    (table,) = re.findall(r"\|---\|---\|\n((?:\|.*\n)+)", PAGE.split("## Vocabulary\n")[1])
    words = [line.split("|")[1].strip() for line in table.splitlines()]
    assert len(words) == len(set(words)) <= 20
