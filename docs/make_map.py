"""Draw the rooms of the code and the way of an answer: python docs/make_map.py FILE.svg.

Arrows are what the modules import, and numbers are where one answer comes by when it is given.
Both are read from the code: its imports, and a trace of an answer. Only the places are set here.
"""

from __future__ import annotations

import ast
import importlib
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from html import escape
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from likewise.page.calls import reply_to
from likewise.project import Project, open_project

SOURCE = Path(__file__).parents[1] / "src" / "likewise"

# The row and the column of every room; what a room imports is in the rows below it.
PLACES: dict[str, tuple[float, float]] = {
    "cli": (0, 1.5), "web": (1, 1), "notebook": (1, 2), "page": (2, 1.5), "lab": (2, 3),
    "project": (3, 1.5), "cluster": (4, 1), "testing": (4, 3), "strategies": (5, 1),
    "items": (5, 2.1), "oracles": (5, 3), "learning": (6, 1), "rows": (7, 1), "store": (7, 2.1),
    "core": (8, 2),
}  # fmt: skip
WIDE = "core"
WIDTH, HEIGHT, BOX, LEFT = 1120, 86, (236, 58), 16


class Step(NamedTuple):
    """A step of an answer: the module and the function that do it, and what they do."""

    module: str
    function: str
    does: str

    @property
    def room(self) -> str:
        """The room of the module."""
        return self.module.split("/")[0]


STEPS = [
    Step("page/calls.py", "reply_to", "the browser sends an answer"),
    Step("project/record.py", "Record.choose", "refused if it is outdated"),
    Step("core/asking.py", "Asking.choose", "becomes links and joins the log"),
    Step("store/store.py", "Store.append", "is on disk"),
    Step("strategies/most_doubt.py", "MostDoubt.next_question", "what is asked next"),
    Step("learning/learner.py", "Learner.learn", "where all other rows belong"),
    Step("items/items.py", "Items.view", "how the next item is shown"),
]


def imports(path: Path) -> Iterator[str]:
    """Yield the names that a module imports when it runs, also inside of functions."""

    def inner(node: ast.AST) -> Iterator[ast.AST]:
        for child in ast.iter_child_nodes(node):
            if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
                yield child
                yield from inner(child)

    for node in inner(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def rooms() -> dict[str, set[str]]:
    """Return the rooms, and which others each imports."""
    names = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    used: dict[str, set[str]] = {name: set() for name in sorted(names)}
    for room, others in used.items():
        for path in (SOURCE / room).rglob("*.py"):
            parts = (name.split(".") for name in imports(path) if name.startswith("likewise."))
            others |= {part[1] for part in parts if part[1] in names and part[1] != room}
    return used


def arrows(used: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Return the imports that do not follow from others."""

    def reached(room: str) -> set[str]:
        return used[room].union(*map(reached, used[room]))

    return [
        (room, other)
        for room, others in used.items()
        for other in sorted(others)
        if not any(other in reached(third) for third in others)
    ]


def answer(project: Project, truth: list[int]) -> None:
    """Give the right answer to the open question, as the page does."""
    question = project.ask()
    assert question is not None
    body: dict[str, object] = {"position": project.position, "question": question.number}
    if question.is_pair:
        body["answer"] = "same" if truth[question.left] == truth[question.right] else "different"
    else:
        heads = [truth[group[0]] if group else None for group in question.groups]
        own = truth[question.row]
        body["chosen"] = heads.index(own) if own in heads else None
    status, found = reply_to(project, "answer", body)
    assert status == 200, found


def trace() -> list[tuple[str, str]]:
    """Return the functions that one answer passes, by their modules, in order."""
    passed: dict[tuple[str, str], None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        _, package, module = frame.f_code.co_filename.replace("\\", "/").rpartition("/likewise/")
        if event == "call" and package:
            passed[module, frame.f_code.co_qualname] = None

    truth = [k % 3 for k in range(30)]
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "rows.csv")
        lines = [f"{k},{9 * group + k / 20},{k % 5}" for k, group in enumerate(truth)]
        table.write_text("name,x,y\n" + "\n".join(lines) + "\n", "utf-8")
        project = open_project(table, options={"id": "name", "cache": False}).project
        try:
            for _ in range(8):
                answer(project, truth)
            before = sys.getprofile()
            sys.setprofile(note)
            try:
                answer(project, truth)
            finally:
                sys.setprofile(before)
        finally:
            project.close()
    return list(passed)


def check_steps(passed: list[tuple[str, str]]) -> None:
    """Refuse steps that an answer does not take, or takes in another order."""
    at = 0
    for step in STEPS:
        if (step.module, step.function) not in passed:
            raise SystemExit(f"an answer does not pass {step.function} in {step.module}")
        found = passed.index((step.module, step.function))
        if found < at:
            raise SystemExit(f"an answer passes {step.function} before the step above it")
        at = found


def box_of(room: str) -> tuple[float, float, float]:
    """Return the center, the top and the width of a room's box."""
    row, column = PLACES[room]
    pitch = (WIDTH - 2 * LEFT) / 4
    width = 3 * pitch - (pitch - BOX[0]) if room == WIDE else BOX[0]
    return LEFT + (column + 0.5) * pitch, 20 + row * HEIGHT, width


def about(room: str) -> str:
    """Return the first sentence of a room's docstring."""
    text = importlib.import_module(f"likewise.{room}").__doc__ or ""
    return text.strip().splitlines()[0].rstrip(".")


def line(room: str, other: str) -> str:
    """Return an arrow from a room down to one that it imports."""
    x, y, _ = box_of(room)
    to_x, to_y, to_width = box_of(other)
    y += BOX[1]
    lean = max(-1.0, min(1.0, (to_x - x) / 260))
    start, reach = x + 95 * lean, to_width / 2 - 20
    end = max(to_x - reach, min(to_x + reach, start)) if other == WIDE else to_x - 85 * lean
    return f'<path class="use" d="M{start:.0f} {y:.0f}L{end:.0f} {to_y - 4:.0f}"/>'


def box(room: str) -> str:
    """Return the box of a room: its name, its sentence, and the steps that are in it."""
    x, y, width = box_of(room)
    left = x - width / 2
    parts = [
        f'<rect x="{left:.0f}" y="{y:.0f}" width="{width:.0f}" height="{BOX[1]}" rx="7"/>',
        f'<text class="room" x="{left + 10:.0f}" y="{y + 18:.0f}">{room}</text>',
    ]
    sentences = textwrap.wrap(about(room), 120 if room == WIDE else 41)
    if len(sentences) > 2:
        raise SystemExit(f"the docstring of {room} begins with more than two lines of the map")
    for k, text in enumerate(sentences):
        place = f'x="{left + 10:.0f}" y="{y + 33 + 14 * k:.0f}"'
        parts.append(f'<text class="about" {place}>{escape(text)}</text>')
    numbers = [k for k, step in enumerate(STEPS, start=1) if step.room == room]
    for place, number in enumerate(reversed(numbers)):
        at = left + width - 15 - 24 * place
        parts.append(f'<circle cx="{at:.0f}" cy="{y + 14:.0f}" r="10"/>')
        parts.append(f'<text class="step" x="{at:.0f}" y="{y + 18:.0f}">{number}</text>')
    return "\n".join(parts)


def legend() -> str:
    """Return the steps of an answer, in words."""
    parts = ['<text class="room" x="20" y="38">The way of one answer</text>']
    for k, step in enumerate(STEPS, start=1):
        y = 40 + 44 * k
        parts += [
            f'<circle cx="31" cy="{y - 4}" r="10"/>',
            f'<text class="step" x="31" y="{y}">{k}</text>',
            f'<text class="name" x="50" y="{y - 6}">{step.module}</text>',
            f'<text class="about" x="50" y="{y + 9}">{escape(step.does)}</text>',
        ]
    y = 40 + 44 * (len(STEPS) + 1)
    parts.append(f'<text class="about" x="20" y="{y}">Then the page has the next question.</text>')
    parts.append(f'<path class="use" d="M30 {y + 16}v22"/>')
    parts.append(
        f'<text class="about" x="50" y="{y + 32}">imports; what follows is left out</text>'
    )
    return "\n".join(parts)


STYLE = """
svg { background: #fff; font-family: Helvetica, Arial, sans-serif }
rect { fill: #f4f6f8; stroke: #5b6b7b }
.room { font-size: 14px; font-weight: bold; fill: #17202a }
.name { font-size: 12px; font-weight: bold; fill: #17202a }
.about { font-size: 11px; fill: #3b4754 }
.use { fill: none; stroke: #8795a3; stroke-width: 1.4; marker-end: url(#tip) }
circle { fill: #0072b2 }
.step { font-size: 12px; font-weight: bold; fill: #fff; text-anchor: middle }
"""


def drawing() -> str:
    """Return the picture as SVG."""
    used = rooms()
    check_places(used)
    check_steps(trace())
    height = int(20 + HEIGHT * max(row for row, _ in PLACES.values()) + BOX[1] + 20)
    tip = (
        '<marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7"'
        ' orient="auto"><path d="M0 0L8 4L0 8z" fill="#8795a3"/></marker>'
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
            "<title>The rooms of the code, and the way of one answer through them</title>",
            f"<style>{STYLE}</style>",
            f"<defs>{tip}</defs>",
            f'<rect x="0" y="0" width="{WIDTH}" height="{height}" style="fill:#fff;stroke:none"/>',
            *(line(room, other) for room, other in arrows(used)),
            *map(box, used),
            legend(),
            "</svg>\n",
        ]
    )


def check_places(used: dict[str, set[str]]) -> None:
    """Refuse rooms without a place, and imports that point up."""
    if set(used) != set(PLACES):
        raise SystemExit(f"PLACES and the rooms differ: {sorted(set(used) ^ set(PLACES))}")
    for room, others in used.items():
        for other in others:
            if PLACES[other][0] <= PLACES[room][0]:
                raise SystemExit(f"{room} imports {other}, which is not below it")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(drawing(), "utf-8")
