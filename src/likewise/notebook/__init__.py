"""The page in a notebook: its calls are messages to the kernel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.core.fingerprint import refuse_other_rows
from likewise.core.session import Session
from likewise.errors import InputError, needs_extra
from likewise.items import Features, Items, open_items
from likewise.items.items import digest
from likewise.items.points import check_features
from likewise.items.tables import numbered
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
    if X is not None:
        refuse_other_rows(session.digest, X)
    shown = _items(session.strategy.n_rows, items, show, html, kind)
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
    """Return the features that the map and `Project.rebuild` need."""
    X = session.strategy.partition.points if X is None else X
    if X is None or len(X) != session.strategy.n_rows:
        n_rows = plural(session.strategy.n_rows, "row")
        raise InputError(f"this needs the features of all {n_rows}: session.widget(..., X=X)")
    return Features(check_features(np.asarray(X), "X"), "the features given")


class ShownItems(Items):
    """Rows that are shown by ``show(i)``: text, or markup if `is_html`."""

    kind = "shown"
    noun = "item"

    def __init__(self, n: int, show: Callable[[int], Any], *, is_html: bool) -> None:
        super().__init__(Path("show"), numbered(n))
        self._show = show
        self._is_html = is_html

    def title(self, i: int) -> str:
        """Return the number of the row."""
        return f"Item {i}"

    def view(self, i: int) -> dict[str, Any]:
        """Return what the function shows of row `i`."""
        shown = self._show(i)
        if not self._is_html:
            text = str(shown)
            return {"kind": self.kind, "text": text, "length": len(text)}
        markup = shown._repr_html_() if hasattr(shown, "_repr_html_") else shown
        if not isinstance(markup, str):
            raise InputError(f"show({i}) returned {type(shown).__name__}, not a text with HTML")
        return {"kind": self.kind, "html": markup}

    def content_hash(self, i: int) -> str:
        """Return a hash of what is shown."""
        return digest(repr(self.view(i)))
