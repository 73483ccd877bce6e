"""Rows name their code, and say when it has changed."""

import ast
import gc
import subprocess
import sys
from pathlib import Path

import pytest

import likewise
from likewise.core.strategy import STRATEGIES
from likewise.lab.experiments import provenance
from likewise.lab.experiments.cells import run_cell
from likewise.lab.experiments.methods import BUILT_IN, find_method
from likewise.lab.experiments.plan import ORDERS
from likewise.lab.experiments.protocol import Method
from likewise.lab.experiments.provenance import (
    CHANGED,
    code_of,
    hash_of,
    imported,
    source_tree,
    why_stale,
)
from likewise.lab.experiments.store import Cell, Row

FIRST = """\
from likewise.steps.second import shared

def first():
    return shared() + 1
"""


class Made(Method):
    name = "made"
    sources = ("likewise.steps.first",)

    def run(self, trial):
        return [0] * len(trial.X)


class Package:
    """A package `likewise` of a few modules and the rules."""

    def __init__(self, src):
        self.src = src
        self.write("steps/first.py", FIRST)
        self.write("steps/second.py", "def shared():\n    return 1\n")
        self.write("steps/other.py", "x = 1\n")
        for rule in ("protocol", "oracle", "cells"):
            self.write(f"lab/experiments/{rule}.py", f"rule = {rule!r}\n")

    def write(self, name, text):
        path = self.src / "likewise" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        forget()

    def remove(self, name):
        (self.src / "likewise" / name).unlink()
        forget()


def forget():
    for function in (provenance._hash_of, provenance._tree, provenance.source_tree):
        function.cache_clear()


@pytest.fixture
def package(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "SRC", tmp_path / "src")
    monkeypatch.setattr(provenance, "find_method", lambda name: Made())
    yield Package(tmp_path / "src")
    forget()


def row_now(**more):
    return Row("main", "made", "mine.npz", 25, 0, code=code_of(Made()), **more)


def test_words_and_layout_do_not_count_nor_do_files_that_are_not_imported(package):
    row = row_now()
    assert why_stale(row) == ""
    package.write("steps/other.py", "x = 2\n")
    package.write(
        "steps/second.py",
        '"""New words."""\n\ndef shared():\n    "Why."\n    return (\n        1  # one\n    )\n',
    )
    assert why_stale(row) == ""


@pytest.mark.parametrize(
    "name", ["steps/first.py", "steps/second.py", "lab/experiments/protocol.py"]
)
def test_a_row_is_stale_once_a_file_it_depends_on_has_changed(package, name):
    row = row_now()
    package.write(name, f"{(package.src / 'likewise' / name).read_text()}x = 2\n")
    assert why_stale(row) == CHANGED
    assert why_stale(row_now()) == ""


def test_a_file_that_moves_does_not_count(package):
    row = row_now()
    package.write("lab/steps/third.py", "def shared():\n    return 1\n")
    package.write("steps/first.py", FIRST.replace("steps.second", "lab.steps.third"))
    package.remove("steps/second.py")
    assert why_stale(row) == ""


def test_what_a_package_passes_on_counts(package):
    package.write("steps/__init__.py", "from likewise.steps.second import shared\n")
    package.write("steps/first.py", FIRST.replace("steps.second", "steps"))
    row = row_now()
    package.write("steps/second.py", "def shared():\n    return 2\n")
    assert why_stale(row) == CHANGED


def test_what_is_imported_for_types_only_does_not_count(package):
    types = "if TYPE_CHECKING:\n    from likewise.steps.other import x\n"
    package.write("steps/first.py", types + FIRST)
    row = row_now()
    package.write("steps/other.py", "x = 2\n")
    assert why_stale(row) == ""


def test_a_row_that_names_no_code_or_other_settings_is_stale(package):
    assert why_stale(Row("main", "made", "mine.npz", 25, 0)) == "does not name its code"
    assert why_stale(row_now(settings="fast")) == "its settings are none now"


def test_a_row_of_a_method_that_is_gone_is_stale():
    row = Row("main", "gone", "iris", 25, 0, code="0" * 12)
    assert why_stale(row) == "its method cannot be found"


def test_a_row_names_the_tree_that_git_names(package):
    def git(*arguments):
        who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        command = ["git", *who, *arguments]
        done = subprocess.run(
            command, cwd=package.src.parent, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert code_of(Made()) == hash_of(Made())
    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "a change")
    forget()
    assert source_tree() == git("rev-parse", "HEAD:src")
    assert code_of(Made()) == f"{hash_of(Made())} {source_tree()}"
    package.write("steps/other.py", "x = 2\n")
    assert source_tree() == git("rev-parse", "HEAD:src") + "+"


def test_the_file_of_a_method_from_elsewhere_counts(package, monkeypatch, tmp_path):
    before = hash_of(Made())
    other = tmp_path / "changed.py"
    other.write_text("x = 1\n")
    forget()
    monkeypatch.setattr(sys.modules[Made.__module__], "__file__", str(other))
    assert hash_of(Made()) != before


@pytest.mark.slow
@pytest.mark.parametrize("method", BUILT_IN)
def test_whatever_makes_a_row_is_code_that_the_row_depends_on(method, blobs, made):
    called = set()

    def look(frame, event, arg):
        if event == "call":
            called.add(frame.f_code.co_filename)

    for name in STRATEGIES.names:
        STRATEGIES.find(name)  # importing is not running
    experiment = "strategies" if method in ORDERS else "main"
    code_of(find_method(method))
    before = sys.gettrace()
    gc.disable()  # nor is the end of a generator of an earlier test
    sys.settrace(look)
    try:
        row = run_cell(Cell(experiment, method, "iris", 10, 0), allowed=15)
    finally:
        sys.settrace(before)
        gc.enable()
    assert made(row).error == ""
    package = Path(likewise.__file__).parent
    ours = {path for path in map(Path, called) if path.is_relative_to(package)}
    # Rules count by themselves; data are compared with their hash; the registry only finds names.
    apart = [package / "lab" / room for room in ("experiments", "datasets")]
    ours = {path for path in ours if not any(map(path.is_relative_to, apart))}
    made_by = find_method(method)
    found = imported((type(made_by).__module__, *made_by.sources))
    assert package / "core" / "answers.py" in found
    assert ours - {package / "lazy.py", package / "registry.py"} <= found


@pytest.mark.parametrize("method", ["COBRA", "Likewise"])
def test_our_methods_do_not_depend_on_their_competitors(method):
    made_by = find_method(method)
    found = imported((type(made_by).__module__, *made_by.sources))
    assert not [path for path in found if {"baselines", "peers", "selection"} & set(path.parts)]


def test_only_what_runs_has_a_meaning():
    def meaning(source):
        return provenance.meaning(ast.parse(source))

    assert meaning("def f():\n    'Say.'\n    return 1") == meaning("def f():\n    return 1")
    assert meaning("x = 1\n'Why one.'") == meaning("x = 1")
    assert meaning("x = 1") != meaning("x = 2")
    assert meaning("x = E('1 rows')") != meaning("x = E('1 row')")
    assert meaning("raise E('1 rows')") == meaning("raise E(f'{n} row' '.')")
    assert meaning("from likewise.a import f\nf()") == meaning("from likewise.b import f\nf()")
    assert meaning("from math import exp\nx = 1") != meaning("x = 1")
    assert meaning("a = R({'b': 'likewise.a:B'})") == meaning("a = R({'b': 'likewise.lab.a:B'})")


def test_a_meaning_is_the_same_in_every_python():
    source = "def f(a, *, b=None):\n    return f'{a!r:>{b}} {{}}' if a else [*b]\n"
    assert provenance.meaning(ast.parse(source)) == (
        "Module(body=[FunctionDef(name='f',args=arguments(args=[arg(arg='a')],"
        "kwonlyargs=[arg(arg='b')],kw_defaults=[Constant()]),body=[Return(value=IfExp("
        "test=Name(id='a',ctx=Load()),body=JoinedStr(values=[FormattedValue(value=Name(id='a',"
        "ctx=Load()),conversion=114,format_spec=JoinedStr(values=[Constant(value='>'),"
        "FormattedValue(value=Name(id='b',ctx=Load()),conversion=-1)])),Constant(value=' {}')]),"
        "orelse=List(elts=[Starred(value=Name(id='b',ctx=Load()),ctx=Load())],ctx=Load())))])])"
    )


def test_a_new_row_names_its_code(blobs):
    assert run_cell(Cell("main", "COBRA", "iris", 10, 0)).code == code_of(find_method("COBRA"))
