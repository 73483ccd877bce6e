"""Which code made a row, and whether that code has changed since.

A row names the git tree of ``src`` that made it. A tree is named by its content, so it can be
looked up in any copy of the repository, also after commits were rewritten. A row is *stale* if a
module that decides about it has changed since, apart from comments, docstrings and the words of
errors: the rules of the experiment, how the task is loaded, what the method calls, and all that
these import.
"""

from __future__ import annotations

import ast
import hashlib
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import likewise
from likewise.errors import InputError
from likewise.lab.datasets.catalog import TASKS
from likewise.lab.experiments.methods import find_method
from likewise.lab.experiments.protocol import Method
from likewise.lab.experiments.store import Row
from likewise.registry import Registry

SRC = Path(likewise.__file__).parents[1]
RULES = tuple(f"likewise.lab.experiments.{name}" for name in ("protocol", "oracle", "cells"))
"""Modules that every row depends on; what they import does not count."""
_KEEPING = ("session", "log", "journal", "arrays", "reports", "audit", "revising", "fingerprint")
NEUTRAL = frozenset(
    {f"likewise.{n}" for n in ("errors", "files", "inputs", "lazy", "registry", "words", "cluster")}
    | {f"likewise.core.{name}" for name in ("html", *_KEEPING)}
)
"""Modules that no row depends on: errors, their words and checks that only raise them, files,
registries, what a notebook shows, and the session, which only keeps what its strategy asks."""
LOADERS = {
    "table": (
        "likewise.lab.datasets.catalog",
        "likewise.lab.datasets.tables",
        "likewise.lab.datasets.stored",
    ),
    "faces": ("likewise.lab.datasets.catalog", "likewise.lab.datasets.faces"),
    "newsgroups": ("likewise.lab.datasets.catalog", "likewise.lab.datasets.newsgroups"),
}
"""Modules that the data of a task depend on, by its kind."""
UNUSED = dict.fromkeys(
    ("COBRA", "COBRA-guess", "COBRAS", "DSL"), frozenset({"likewise.cluster.learner"})
)
"""Modules that a method imports but never calls: only ``COBRA(labels="learned")`` has a learner."""
_LOOP = ("likewise.oracles.run", "likewise.oracles.oracle")
CALLED = {
    "likewise.lab.experiments.session_methods": _LOOP,
    "likewise.lab.experiments.link_methods": (
        *_LOOP,
        "likewise.cluster.estimator",
        "likewise.lab.selection.estimators",
    ),
}
"""Modules that ask for a method, by its adapter; what they import does not count."""
DIRTY = "+"
"""Added to the name of a tree if files differed from it."""
CHANGED = "changed since"
"""The reason why a row is stale, if its code is known."""


@cache
def source_tree() -> str:
    """Return the git tree of ``src``, with + if files in it have changed; "" without git."""
    tree = _git("rev-parse", "HEAD:./")
    if not tree:
        return ""
    return tree.strip() + (DIRTY if _git("status", "--porcelain", "--", ".") else "")


def code_of(method: Method) -> str:
    """Return the code of a method as a row names it.

    It is the tree of ``src``, and for each module from elsewhere its name and the hash of its
    file, all separated by spaces.
    """
    own = [
        f"{name}:{_blob(path)}"
        for name in sorted({type(method).__module__, *method.sources})
        if not _is_ours(name) and (path := _file_of(name)) is not None
    ]
    return " ".join([source_tree(), *own]).strip()


def why_stale(row: Row) -> str:
    """Return why a row may not come out the same today, or "" if its code has not changed."""
    if not row.code:
        return "does not name its code"
    tree, *own = row.code.split()
    if tree.endswith(DIRTY):
        return "made with files that were not committed"
    try:
        method = find_method(row.method)
    except InputError:
        return "its method cannot be found"
    if row.settings != method.settings:
        return f"its settings are {method.settings or 'none'} now"
    if source_tree() and _files_of(tree) is None:
        return "its code is not in this repository"
    changed = _changed(row.task, method, tree, own)
    shown = ", ".join(name.removeprefix("likewise.") for name in changed[:3])
    more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
    return f"{CHANGED}: {shown}{more}" if changed else ""


def _changed(task: str, method: Method, tree: str, own: Iterable[str]) -> list[str]:
    """Return the modules that a row depends on and that have changed."""
    changed = []
    for part in own:
        name, _, blob = part.rpartition(":")
        path = _file_of(name)
        if path is None or _blob(path) != blob:
            changed.append(name)
    if not source_tree():
        return changed  # an installed package has no history to compare with
    loaders = LOADERS[TASKS[task].kind] if task in TASKS else ()
    needed = sorted({*code_needed(method), *RULES, *loaders})
    return [*changed, *(name for name in needed if _has_changed(name, tree))]


def code_needed(method: Method) -> frozenset[str]:
    """Return the modules of `likewise` that a method runs, whatever its task."""
    called = imported(method.sources, UNUSED.get(method.name, frozenset()))
    adapter = type(method).__module__
    own = {adapter, *CALLED.get(adapter, ())} if _is_ours(adapter) else set()
    return called | own


@cache
def imported(modules: tuple[str, ...], unused: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return modules and all modules of `likewise` that they import, directly or not.

    Those in `unused` are left out. Names that a package only re-exports are followed to the module
    that defines them.

    Examples
    --------
    >>> found = imported(("likewise.cluster.cobra",))
    >>> "likewise.core.links" in found, "likewise.web" in found
    (True, False)
    """
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in found | NEUTRAL | unused and _is_ours(name) and name != "likewise":
            found.add(name)
            waiting += _imports(name)
    return frozenset(found)


@cache
def _imports(module: str) -> frozenset[str]:
    path = _file_of(module)
    if path is None:
        return frozenset()
    found: set[str] = set()
    for node in _statements(ast.parse(path.read_bytes()), skip_typing=True):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and _is_ours(node.module):
            found |= {_home(node.module, alias.name) for alias in node.names}
    return frozenset(found)


@cache
def _home(module: str, name: str) -> str:
    """Return the module that ``from module import name`` is about."""
    if _file_of(f"{module}.{name}") is not None:
        return f"{module}.{name}"
    path = _file_of(module)
    if path is not None and path.name == "__init__.py":
        for node in _statements(ast.parse(path.read_bytes()), skip_typing=False):
            if isinstance(node, ast.ImportFrom) and node.module and _is_ours(node.module):
                passed_on = {alias.asname or alias.name for alias in node.names}
                if name in passed_on:
                    return _home(node.module, name)
    return module


def _statements(tree: ast.AST, *, skip_typing: bool) -> Iterator[ast.AST]:
    """Yield all nodes, without what is there for type checkers only."""
    for node in ast.iter_child_nodes(tree):
        if skip_typing and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        yield node
        yield from _statements(node, skip_typing=skip_typing)


@cache
def _has_changed(module: str, tree: str) -> bool:
    path, then = _file_of(module), _files_of(tree) or {}
    blob = None if path is None else then.get(path.relative_to(SRC).as_posix())
    if path is None or blob is None:
        return True
    if blob == _blob(path):
        return False
    return meaning(_git("cat-file", "blob", blob) or "") != meaning(path.read_text("utf-8"))


def meaning(source: str) -> str:
    r"""Return the syntax tree of a source, without what no row depends on.

    That is docstrings, lists of registered names, the words of errors, names imported from modules
    that are `NEUTRAL`, and calls of such functions alone: what they return is not used, and what
    they refuse made no row.

    Examples
    --------
    >>> meaning('x = 1  # one') == meaning('"A module."\n\nx = (1)')
    True
    >>> meaning('raise InputError("1 rows")') == meaning('raise InputError(f"{n} row")')
    True
    """
    tree = ast.parse(source)
    neutral = [
        node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module in NEUTRAL
    ]
    guards = {alias.name for node in neutral for alias in node.names}
    tree.body = [node for node in tree.body if node not in neutral and not _is_registry(node)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            node.exc.args = [ast.Constant("") if _is_text(arg) else arg for arg in node.exc.args]
        if isinstance(body := getattr(node, "body", None), list):
            body[:] = [part for part in body if not _is_idle(part, guards)]
    return ast.dump(tree)


def _is_text(value: ast.expr | None) -> bool:
    is_plain = isinstance(value, ast.Constant) and isinstance(value.value, str)
    return is_plain or isinstance(value, ast.JoinedStr)


def _is_idle(node: ast.stmt, guards: set[str]) -> bool:
    """Return whether a statement is a text, as docstrings are, or calls one of the `guards`."""
    value = node.value if isinstance(node, ast.Expr) else None
    is_call = isinstance(value, ast.Call) and getattr(value.func, "id", "") in guards
    return is_call or _is_text(value)


def _is_registry(node: ast.stmt) -> bool:
    """Return whether a statement only fills a registry; no row depends on other names in it."""
    value = getattr(node, "value", None)
    return isinstance(value, ast.Call) and getattr(value.func, "id", "") == Registry.__name__


def _is_ours(module: str) -> bool:
    return module.split(".", maxsplit=1)[0] == "likewise"


@cache
def _file_of(module: str) -> Path | None:
    """Return the file of a module of `likewise`, or of any other module that is loaded."""
    if not _is_ours(module):
        found = getattr(sys.modules.get(module), "__file__", None)
        return None if found is None else Path(found)
    place = SRC.joinpath(*module.split("."))
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file():
            return path
    return None


def _blob(path: Path) -> str:
    """Return the name that git gives to the content of a file."""
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@cache
def _files_of(tree: str) -> dict[str, str] | None:
    """Return the names of all files of a tree by their path; None if the tree is not there."""
    listed = _git("ls-tree", "-r", "--full-tree", tree)
    if listed is None:
        return None
    lines = (line.split("\t", 1) for line in listed.splitlines())
    return {path: about.split()[2] for about, path in lines}


def _git(*arguments: str) -> str | None:
    """Return what git prints about the repository that `likewise` runs from, or None."""
    if SRC.name != "src" or not (SRC.parent / ".git").exists():
        return None
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=SRC, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout
