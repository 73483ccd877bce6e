"""The page in a notebook: its own JavaScript in a frame, its calls as messages to the kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.core.session import Session
from likewise.errors import InputError, needs_extra
from likewise.items import Features, Items, open_items
from likewise.items.points import check_features
from likewise.notebook.shown import ShownItems
from likewise.project import Project
from likewise.words import plural

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from likewise.notebook.session_widget import SessionWidget

__all__ = ["widget"]


def widget(
    session: Session,
    items: Any = None,
    *,
    show: Callable[[int], Any] | None = None,
    html: bool = False,
    kind: Any = None,
    X: ArrayLike | None = None,
    height: int = 660,
) -> SessionWidget:
    """Return a widget that asks a session's questions; see `Session.widget`."""
    with needs_extra("asking in a notebook", "notebook"):
        from likewise.notebook.session_widget import SessionWidget
    n_rows = session.strategy.n_rows
    shown = _items(n_rows, items, show, html, kind)
    if len(shown) != n_rows:
        n_items = plural(len(shown), "item")
        raise InputError(f"the session is about {plural(n_rows, 'row')}, but there are {n_items}")
    project = Project(session, shown, features=lambda: _features(session, X))
    return SessionWidget(project, height=height)


def _items(
    n_rows: int, items: Any, show: Callable[[int], Any] | None, html: bool, kind: Any
) -> Items:
    if (items is None) == (show is None):
        raise InputError(
            "say what the rows look like: session.widget(items=df), a list of pictures, texts or "
            "series, or session.widget(show=lambda i: ...)"
        )
    if show is not None:
        if not callable(show):
            raise InputError(f"show must be a function of a row number, got {show!r}")
        return ShownItems(n_rows, show, is_html=html)
    if html:
        raise InputError("html=True is for show=..., which returns the markup of row i")
    return items if isinstance(items, Items) else open_items(items, kind=kind)


def _features(session: Session, X: Any) -> Features:
    """Return the features that the map and refining need."""
    partition = session.strategy.partition
    if X is None and partition.points is not None and len(partition.points) == len(session.labels):
        X = partition.points
    if X is None or len(X) != session.strategy.n_rows:
        n_rows = plural(session.strategy.n_rows, "row")
        raise InputError(f"this needs the features of all {n_rows}: session.widget(..., X=X)")
    return Features(check_features(np.asarray(X), "X"), "the features given")
