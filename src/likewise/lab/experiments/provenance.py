"""Which code made a row, and whether that code has changed since.

Every row has the hash of its method: of the method's source files, of all files of `likewise` that
these import, and of the `RULES` of the experiment. Comments, docstrings, formatting, the words of
errors and where a file lies do not count. A row whose hash is not that of today is *stale*.
``likewise bench verify --restamp`` makes a sample of such rows again and, if all come out the same,
writes the hash of today into all of them.
"""

from __future__ import annotations

import ast
import hashlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import likewise
from likewise.errors import InputError
from likewise.lab.experiments.methods import find_method
from likewise.lab.experiments.protocol import Method
from likewise.lab.experiments.store import Row

SRC = Path(likewise.__file__).parents[1]
RULES = tuple(f"likewise.lab.experiments.{name}" for name in ("protocol", "oracle", "cells"))
"""Files that every row depends on; what they import does not count."""
DIRTY = "+"
"""Added to the name of a tree if files differed from it."""
CHANGED = "its code has changed"
"""The reason why a row is stale, if it has a hash of another code."""


def code_of(method: Method) -> str:
    """Return the hash of a method and the git tree of ``src``, as a row keeps them."""
    return f"{hash_of(method)} {source_tree()}".strip()


def why_stale(row: Row) -> str:
    """Return why a row may not come out the same today, or "" if its code has not changed."""
    if not row.code:
        return "does not name its code"
    try:
        method = find_method(row.method)
    except InputError:
        return "its method cannot be found"
    if row.settings != method.settings:
        return f"its settings are {method.settings or 'none'} now"
    return "" if row.code.split()[0] == hash_of(method) else CHANGED


def restamped(row: Row, n_checked: int, n_rows: int) -> Row:
    """Return a row with the hash of today, and how many of how many like it came out the same."""
    tree = next((word for word in row.code.split() if len(word.rstrip(DIRTY)) == 40), "")
    words = (hash_of(find_method(row.method)), tree, f"{n_checked}/{n_rows}")
    return replace(row, code=" ".join(filter(None, words)))


def hash_of(method: Method) -> str:
    """Return the hash of all source files that decide what a method does."""
    return _hash_of(tuple(sorted({type(method).__module__, *method.sources})))


@cache
def _hash_of(modules: tuple[str, ...]) -> str:
    files = imported(modules) | {_file_of(name) for name in RULES}
    meanings = {meaning(_tree(path)) for path in files if path is not None}
    return hashlib.sha256("\n".join(sorted(meanings)).encode()).hexdigest()[:12]


def imported(modules: tuple[str, ...]) -> set[Path]:
    """Return the files of modules and of all that they import of `likewise`, directly or not."""
    files: set[Path] = set()
    waiting = list(modules)
    while waiting:
        path = _file_of(waiting.pop())
        if path is not None and path not in files:
            files.add(path)
            waiting += _imports(_tree(path))
    return files


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _imports(node: ast.AST) -> Iterator[str]:
    """Yield the modules of `likewise` that a syntax tree imports when it runs."""
    match node:
        case ast.If(ast.Name("TYPE_CHECKING")):
            return
        case ast.Import(names):
            yield from (alias.name for alias in names if _is_ours(alias.name))
        case ast.ImportFrom(str(module), names) if _is_ours(module):
            for alias in names:
                inner = f"{module}.{alias.name}"
                yield module if _file_of(inner) is None else inner
    for child in ast.iter_child_nodes(node):
        yield from _imports(child)


def meaning(value: object) -> str:
    """Return a syntax tree as text without what no row depends on, alike in every Python."""
    if isinstance(value, list):
        return f"[{','.join(filter(None, map(meaning, value)))}]" if value else ""
    if not isinstance(value, ast.AST):
        # The address of a class of ours changes when its file moves.
        is_address = isinstance(value, str) and _is_ours(value)
        return "" if value is None or is_address else repr(value)
    match value:
        case ast.Raise():
            return "Raise"
        case ast.Expr(ast.Constant(str())) | ast.If(ast.Name("TYPE_CHECKING")):
            return ""
        case ast.ImportFrom(str(module)) if _is_ours(module):
            return ""
    fields = ((name, meaning(field)) for name, field in ast.iter_fields(value) if name != "kind")
    return f"{type(value).__name__}({','.join(f'{name}={text}' for name, text in fields if text)})"


def _is_ours(name: str) -> bool:
    return name == "likewise" or name.startswith("likewise.")


def _file_of(module: str) -> Path | None:
    """Return the file of a module of `likewise`, or of any other module that is loaded."""
    if not _is_ours(module):
        file = getattr(sys.modules.get(module), "__file__", None)
        return None if file is None else Path(file)
    place = SRC.joinpath(*module.split("."))
    candidates = (place.with_suffix(".py"), place / "__init__.py")
    return next((path for path in candidates if path.is_file()), None)


@cache
def source_tree() -> str:
    """Return the git tree of ``src``, with + if files in it have changed; "" without git."""
    tree = _git("rev-parse", "HEAD:./")
    return tree and tree + (DIRTY if _git("status", "--porcelain", "--", ".") else "")


def _git(*arguments: str) -> str:
    """Return what git prints about the repository that `likewise` runs from, or ""."""
    if SRC.name != "src" or not (SRC.parent / ".git").exists():
        return ""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=SRC, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()
