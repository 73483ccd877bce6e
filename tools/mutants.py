"""Do the tests notice a small change? A sample of changes, each tried on the tests of its room.

    python tools/mutants.py core --sample 40 --seed 0

Every mutant is one change of one expression: another comparison, another sign, a number one
larger, a condition turned around, `and` for `or`, nothing returned. One that no test notices is
printed: it is equal to the original in all that matters, or a test is missing.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import signal
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECONDS = 200
"""A mutant that takes more time of the processor never ends: it is noticed."""

LAWS = "tests/laws/test_strategies.py::Test"

ROOMS: dict[str, tuple[list[str], list[str]]] = {
    "core": (["core"], ["tests/core", f"{LAWS}ClosestFirst"]),
    "strategies": (
        ["strategies/closest_first.py"],
        ["tests/strategies/test_closest_first.py", f"{LAWS}ClosestFirst"],
    ),
    "peers": (
        ["lab/peers"],
        [
            "tests/lab/peers",
            *(f"{LAWS}{name}" for name in ("RandomGroups", "SplitAndMerge", "SkeletonTree")),
            *(f"{LAWS}{name}" for name in ("DiffusionSkeleton", "AdaptiveSampling")),
        ],
    ),
    "most_doubt": (
        [f"strategies/{name}.py" for name in ("most_doubt", "cells", "field", "merging")],
        [
            *(f"tests/strategies/test_{name}.py" for name in ("most_doubt", "cells", "merging")),
            *(f"{LAWS}MostDoubt{name}" for name in ("", "ByPairs", "ByAspects", "FromRows")),
        ],
    ),
    "learning": (
        ["learning"],
        ["tests/learning", "tests/strategies/test_cells.py", f"{LAWS}MostDoubt"],
    ),
    "stores": (
        ["store", "files.py"],
        [
            *(f"tests/store/test_{name}.py" for name in ("store", "packing", "beside")),
            *("tests/test_files.py", "tests/project/test_project.py"),
        ],
    ),
    "export": (
        ["project/formats.py", "project/handover.py"],
        ["tests/project/test_formats.py", "tests/project/test_handover.py"],
    ),
}
GUARDS = {"strict", "frozen", "slots"}
"""Options of `zip` and of data classes."""

OTHERWISE: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def changed(node: ast.AST) -> ast.AST | None:
    """Return a node that says something else, or None if there is no change for it."""
    match node:
        case ast.Compare(left, [op, *ops], right) if type(op) in OTHERWISE:
            other: ast.AST | None = ast.Compare(left, [OTHERWISE[type(op)](), *ops], right)
        case ast.BinOp(left, op, right) if type(op) in OTHERWISE:
            other = ast.BinOp(left, OTHERWISE[type(op)](), right)
        case ast.BoolOp(op, values):
            other = ast.BoolOp(OTHERWISE[type(op)](), values)
        case ast.UnaryOp(ast.Not(), operand):
            other = operand
        case ast.Constant(bool(value)):
            other = ast.Constant(not value)
        case ast.Constant(int(value)):
            other = ast.Constant(value + 1)
        case ast.IfExp(test, body, orelse):
            other = ast.IfExp(test, orelse, body)
        case ast.Return(ast.expr() as value) if not isinstance(value, ast.Constant):
            other = ast.Return(ast.Constant(None))
        case _:
            other = None
    return other


def mutable(path: Path) -> list[int]:
    """Return which nodes of a module, in the order of `ast.walk`, can be changed.

    What only guards against slips of our own (`GUARDS`) is left alone: no right program notices.
    """
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    guards = {id(n.value) for n in nodes if isinstance(n, ast.keyword) and n.arg in GUARDS}
    return [k for k, n in enumerate(nodes) if id(n) not in guards and changed(n) is not None]


def mutant(path: Path, k: int) -> tuple[int, str, str]:
    """Return the line, the change and the text of the module with its node `k` changed."""
    tree = ast.parse(path.read_text("utf-8"))
    node = list(ast.walk(tree))[k]
    other = changed(node)
    assert other is not None
    words = f"{ast.unparse(node)}  ->  {ast.unparse(other)}"
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is node:
                setattr(parent, name, other)
            elif isinstance(value, list):
                value[:] = [other if v is node else v for v in value]
    return getattr(node, "lineno", 0), words, ast.unparse(ast.fix_missing_locations(tree))


def is_noticed(folder: Path, tests: list[str]) -> bool:
    """Run tests on the package in a folder, in a process of their own; return whether any fails."""
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.alarm(10 * SECONDS)  # one that waits for ever takes no time of the processor
        sys.path.insert(0, str(folder))
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        import pytest

        # The same examples every time, so that a survivor survives again.
        quiet = ["-x", "-q", "-n0", "-pno:cacheprovider", "-mnot slow", "--hypothesis-seed=0"]
        os._exit(min(255, int(pytest.main([*quiet, *tests]))))
    return os.waitpid(child, 0)[1] != 0


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("room", choices=ROOMS)
    parser.add_argument("--sample", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    places, tests = ROOMS[options.room]
    package = ROOT / "src" / "likewise"
    files = [f for p in places for f in sorted((package / p).rglob("*.py")) or [package / p]]
    found = [(file, k) for file in files for k in mutable(file)]
    some = random.Random(options.seed).sample(found, min(options.sample, len(found)))
    os.chdir(ROOT)
    import scipy.optimize  # noqa: F401  (what all runs need is imported once)
    import sklearn.cluster  # noqa: F401

    with tempfile.TemporaryDirectory() as work:
        copy = Path(work) / "likewise"
        shutil.copytree(package, copy)
        tests += [str(copy / place) for place in places]  # the examples in the docstrings
        if is_noticed(Path(work), tests):
            sys.exit("the tests fail without any change")
        n_noticed = 0
        for n_tried, (file, k) in enumerate(some):
            print(f"{n_tried} of {len(some)} tried", end="\r", file=sys.stderr, flush=True)
            line, change, text = mutant(file, k)
            target = copy / file.relative_to(package)
            target.write_text(text, "utf-8")
            if is_noticed(Path(work), tests):
                n_noticed += 1
            else:
                print(f"not noticed: {file.relative_to(package)}:{line}  {change}", flush=True)
            shutil.copyfile(file, target)
    print(f"{options.room}: {n_noticed} of {len(some)} noticed, {len(found)} in all")


if __name__ == "__main__":
    main()
