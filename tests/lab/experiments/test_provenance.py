"""Rows name their code, and say when it has changed."""

import gc
import subprocess
import sys

import pytest

from likewise.core.strategy import STRATEGIES
from likewise.lab.experiments import provenance
from likewise.lab.experiments.cells import run_cell
from likewise.lab.experiments.methods import BUILT_IN, find_method
from likewise.lab.experiments.plan import ORDERS
from likewise.lab.experiments.protocol import Method
from likewise.lab.experiments.provenance import (
    NEUTRAL,
    UNUSED,
    code_needed,
    code_of,
    imported,
    meaning,
    source_tree,
    why_stale,
)
from likewise.lab.experiments.store import Cell, Row

CACHED = (
    provenance.source_tree,
    provenance.imported,
    provenance._imports,
    provenance._home,
    provenance._has_changed,
    provenance._file_of,
    provenance._files_of,
)


class Made(Method):
    name = "made"
    sources = ("likewise.steps.first",)

    def run(self, trial):
        return [0] * len(trial.X)


class Checkout:
    """A small repository whose package `likewise` has three modules and the rules."""

    def __init__(self, folder):
        self.folder = folder
        self.git("init", "-q", "-b", "main")
        self.write("steps/__init__.py", "from likewise.steps.second import shared\n")
        self.write("steps/first.py", "from likewise.steps import shared\n")
        self.write("steps/second.py", "def shared():\n    return 1\n")
        self.write("steps/other.py", "x = 1\n")
        self.write("experiments/protocol.py", "")
        self.write("experiments/oracle.py", "")
        self.write("experiments/cells.py", "")
        self.commit()

    def git(self, *arguments):
        who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        done = subprocess.run(
            ["git", *who, *arguments], cwd=self.folder, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def write(self, name, text):
        path = self.folder / "src" / "likewise" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.forget()

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a change")
        self.forget()

    def forget(self):
        for function in CACHED:
            function.cache_clear()


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "SRC", tmp_path / "src")
    monkeypatch.setattr(provenance, "find_method", lambda name: Made())
    found = Checkout(tmp_path)
    yield found
    found.forget()


def row_now(**more):
    return Row("main", "made", "mine.npz", 25, 0, code=source_tree(), **more)


def test_the_tree_is_the_one_that_git_names(checkout):
    assert source_tree() == checkout.git("rev-parse", "HEAD:src")
    checkout.write("steps/other.py", "x = 2\n")
    assert source_tree() == checkout.git("rev-parse", "HEAD:src") + "+"


def test_a_row_stays_good_while_nothing_that_it_needs_changes(checkout):
    row = row_now()
    assert why_stale(row) == ""
    checkout.write("steps/other.py", "x = 2\n")
    checkout.write("steps/second.py", '"""New words."""\n\ndef shared():\n    return 1  # one\n')
    checkout.commit()
    assert row.code != source_tree()
    assert why_stale(row) == ""


def test_a_row_is_stale_once_a_module_it_imports_has_changed(checkout):
    row = row_now()
    checkout.write("steps/second.py", "def shared():\n    return 2\n")
    assert why_stale(row) == "changed since: steps.second"
    checkout.commit()
    assert why_stale(row) == "changed since: steps.second"
    assert why_stale(row_now()) == ""


def test_a_row_is_stale_once_the_rules_have_changed(checkout):
    row = row_now()
    checkout.write("experiments/protocol.py", "N_FOLDS = 10\n")
    assert why_stale(row) == "changed since: experiments.protocol"


def test_a_row_whose_code_cannot_be_looked_up_is_stale(checkout):
    assert why_stale(Row("main", "made", "mine.npz", 25, 0)) == "does not name its code"
    lost = Row("main", "made", "mine.npz", 25, 0, code="0" * 40)
    assert why_stale(lost) == "its code is not in this repository"
    checkout.write("steps/other.py", "x = 2\n")
    assert why_stale(row_now()) == "made with files that were not committed"


def test_a_row_with_other_settings_is_stale(checkout):
    assert why_stale(row_now(settings="fast")) == "its settings are none now"


def test_a_tree_survives_a_rewritten_history(checkout):
    row = row_now()
    checkout.git("commit", "-q", "--amend", "-m", "other words")
    checkout.forget()
    assert why_stale(row) == ""


def test_an_installed_package_cannot_tell_and_marks_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "SRC", tmp_path / "site-packages")
    provenance.source_tree.cache_clear()
    try:
        assert source_tree() == ""
        assert code_of(find_method("COBRA")) == ""
        made = Row("main", "COBRA", "iris", 25, 0, code="0" * 40, settings="incomplete=separate")
        assert why_stale(made) == ""
    finally:
        provenance.source_tree.cache_clear()


def test_a_method_from_elsewhere_is_named_by_its_file():
    assert code_of(Made()).split()[-1].startswith(f"{Made.__module__}:")
    assert ":" not in code_of(find_method("COBRA"))


@pytest.mark.slow
@pytest.mark.parametrize("method", BUILT_IN)
def test_every_method_depends_on_the_core_and_on_no_front(method):
    found = imported(find_method(method).sources)
    assert "likewise.core.links" in found
    rooms = ("web", "cli", "notebook", "page", "project", "experiments")
    fronts = tuple(f"likewise.{room}" for room in rooms)
    assert not [name for name in found if name.startswith(fronts)]


@pytest.mark.slow
@pytest.mark.parametrize("method", BUILT_IN)
def test_whatever_makes_a_row_is_code_that_the_row_depends_on(method, blobs):
    called = set()

    def look(frame, event, arg):
        if event == "call":
            called.add(frame.f_globals.get("__name__", ""))

    for name in STRATEGIES.names:
        STRATEGIES.find(name)  # importing is not running
    gc.collect()  # nor is the end of a generator of an earlier test
    experiment = "strategies" if method in ORDERS else "main"
    before = sys.getprofile()
    sys.setprofile(look)
    try:
        row = run_cell(Cell(experiment, method, "iris", 10, 0), allowed=25)
    finally:
        sys.setprofile(before)
    assert row.error == ""
    assert "likewise.core.links" in called
    # Rules and tasks are code of every row; of the session and the like no row depends.
    apart = ("likewise.lab.experiments.", "likewise.lab.datasets.")
    ours = {name for name in called - NEUTRAL if name.startswith("likewise.")}
    ours = {name for name in ours if not name.startswith(apart)}
    assert ours <= code_needed(find_method(method))


def test_cobra_does_not_depend_on_its_competitors():
    assert not [name for name in imported(find_method("COBRA").sources) if "baselines" in name]


@pytest.mark.parametrize("method", UNUSED)
def test_methods_without_a_learner_depend_on_none(method):
    sources = find_method(method).sources
    assert "likewise.learning.learner" in imported(sources)
    assert "likewise.learning.learner" not in imported(sources, UNUSED[method])


def test_only_what_runs_has_a_meaning():
    assert meaning("def f():\n    'Say.'\n    return 1") == meaning("def f():\n    return 1")
    assert meaning("x = 1\n'Why one.'") == meaning("x = 1")
    assert meaning("x = 1") != meaning("x = 2")
    assert meaning("raise E('1 rows', x)") == meaning("raise E(f'{n} row' '.', x)")
    assert meaning("raise E('1 rows', x)") != meaning("raise E('1 rows', y)")
    assert meaning("raise E('1 rows')") != meaning("raise F('1 rows')")
    assert meaning("x = E('1 rows')") != meaning("x = E('1 row')")
    assert meaning("from likewise.words import plural\nx = 1") == meaning("x = 1")
    assert meaning("from likewise.steps import plural\nx = 1") != meaning("x = 1")
    guard = "from likewise.inputs import refuse_rows\n"
    assert meaning(f"{guard}def f(x):\n    refuse_rows(x)\n    g(x)") == meaning(
        "def f(x):\n    g(x)"
    )
    assert meaning(f"{guard}def f(x):\n    x = refuse_rows(x)") != meaning("def f(x):\n    pass")
    assert meaning("NAMES = Registry({'a': 'b'})") == meaning("NAMES: Registry[int] = Registry({})")


def test_a_new_row_names_its_code(blobs):
    assert run_cell(Cell("main", "COBRA", "iris", 10, 0)).code == source_tree()
