"""Items that a function of the user shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from likewise.errors import InputError
from likewise.items.items import Features, Items, OnProgress, digest


class ShownItems(Items):
    """Rows that are shown by ``show(i)``.

    Parameters
    ----------
    n : int
        How many there are.
    show : callable
        Returns a text, or with `is_html` markup or something that has ``_repr_html_``.
    is_html : bool
        Whether what it returns is markup. By default it is text, and shown as it is.
    """

    kind = "shown"
    noun = "item"

    def __init__(self, n: int, show: Callable[[int], Any], *, is_html: bool) -> None:
        super().__init__(Path("show"), [str(i) for i in range(n)])
        self._show = show
        self._is_html = is_html

    @classmethod
    def recognizes(cls, source: Any, options: Mapping[str, Any]) -> bool:  # noqa: ARG003
        """Return False: this kind is never recognized from a source."""
        return False

    @classmethod
    def open(cls, source: Any, *args: Any, **options: Any) -> Self:  # noqa: ARG003
        """Refuse: these are made by `Session.widget` only."""
        raise InputError("a function that shows rows is for session.widget(show=...)")

    def title(self, i: int) -> str:
        """Return the number of the row."""
        return f"Item {i}"

    def view(self, i: int) -> dict[str, Any]:
        """Return what the function shows of row `i`."""
        found = self._show(i)
        if not self._is_html:
            text = str(found)
            return {"kind": self.kind, "text": text, "length": len(text)}
        markup = found._repr_html_() if hasattr(found, "_repr_html_") else found
        if not isinstance(markup, str):
            raise InputError(f"show({i}) returned {type(found).__name__}, not a text with HTML")
        return {"kind": self.kind, "html": markup}

    def content_hash(self, i: int) -> str:
        """Return a hash of what is shown."""
        return digest(repr(self.view(i)))

    def _make_features(self, progress: OnProgress | None) -> Features:  # noqa: ARG002
        raise InputError("a function that shows rows has no features; fit by features of your own")
