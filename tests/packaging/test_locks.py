"""The lock files agree with what pyproject.toml asks for."""

import itertools
import re
import shlex
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

from likewise.items.encoders import networks

requirements = pytest.importorskip("packaging.requirements", reason="pip install packaging")
utils = pytest.importorskip("packaging.utils", reason="pip install packaging")

ROOT = Path(__file__).parents[2]
ASKED = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LOCKS = ("dev", "extras", "docs", "release")


def recipe(lock):
    """Return the extras and groups from which the Makefile makes a lock."""
    text = (ROOT / "Makefile").read_text("utf-8").replace("\\\n", " ")
    (line,) = re.findall(rf"^\t\$\(COMPILE\) (.* -o requirements/{lock}\.lock)$", text, re.M)
    words = shlex.split(line)
    named = list(itertools.pairwise(words))
    return [b for a, b in named if a == "--extra"], [b for a, b in named if a == "--group"], words


def wanted(lock):
    """Return the requirements that a lock is made for."""
    extras, groups, words = recipe(lock)
    found = list(ASKED["project"]["dependencies"]) if "pyproject.toml" in words else []
    for extra in extras:
        found += ASKED["project"]["optional-dependencies"][extra]
    for group in groups:
        found += ASKED["dependency-groups"][group]
    return [requirements.Requirement(line) for line in found]


def locked(lock):
    """Return the versions of every package in a lock; markers may choose between several."""
    versions = defaultdict(list)
    text = (ROOT / f"requirements/{lock}.lock").read_text("utf-8")
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", text, re.M):
        versions[utils.canonicalize_name(name)].append(version)
    return versions


@pytest.mark.parametrize("lock", LOCKS)
def test_every_requirement_is_locked_at_a_version_that_it_allows(lock):
    versions = locked(lock)
    wrong = [
        f"{need}: {', '.join(versions[utils.canonicalize_name(need.name)]) or 'missing'}"
        for need in wanted(lock)
        if not versions[utils.canonicalize_name(need.name)]
        or not all(v in need.specifier for v in versions[utils.canonicalize_name(need.name)])
    ]
    assert not wrong, f"make lock: {wrong}"


@pytest.mark.parametrize("lock", [*LOCKS, "small-model"])
def test_everything_that_is_locked_has_a_hash(lock):
    text = (ROOT / f"requirements/{lock}.lock").read_text("utf-8")
    blocks = re.split(r"^(?=[\w.-]+==)", text, flags=re.M)[1:]
    assert [block.splitlines()[0] for block in blocks if "--hash=sha256:" not in block] == []


def test_a_package_in_two_locks_has_one_version():
    for first, second in itertools.combinations(map(locked, LOCKS), 2):
        both = set(first) & set(second)
        assert {n for n in both if not set(first[n]) & set(second[n])} == set()


def test_every_extra_is_locked_tested_by_name_or_made_of_others():
    extras = set(ASKED["project"]["optional-dependencies"])
    in_locks = {extra for lock in LOCKS for extra in recipe(lock)[0]}
    by_hand = {"inception"}  # torch, which is gigabytes
    assert extras - in_locks - by_hand == {"testing", "app", "all"}
    assert set(ASKED["dependency-groups"]) == {g for lock in LOCKS for g in recipe(lock)[1]}


def test_whatever_is_installed_is_held_to_the_hashes_of_a_lock():
    places = ROOT / "Makefile", ROOT / ".ci/run", *(ROOT / ".github/workflows").glob("*.yml")
    for path in places:
        for line in path.read_text("utf-8").splitlines():
            if re.search(r"pip install [^\"]*$|^\$pip ", line) and not line.endswith(" -e ."):
                assert re.search(r" --require-hashes -r requirements/[\w-]+\.lock$", line), line


def test_the_small_model_is_locked_with_its_server():
    asked = (ROOT / "requirements/small-model.in").read_text("utf-8").splitlines()
    assert set(locked("small-model")) == {line for line in asked if line[0] != "#"}


def test_weights_are_pinned_exactly_as_the_table_of_networks_has_them():
    extras = ASKED["project"]["optional-dependencies"]
    pinned = {need for need in extras["networks"] + extras["lab"] if "==" in need}
    table = (*networks.PICTURES.values(), *networks.TEXTS.values())
    assert pinned == {file.requirement for network in table for file in network.weights}


def test_the_page_can_be_installed_without_weights():
    extras = ASKED["project"]["optional-dependencies"]
    assert not [need for need in extras["page"] if "==" in need or "likewise" in need]
    assert extras["app"] == ["likewise[page,networks]"]
