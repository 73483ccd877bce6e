"""Pictures for the demo, drawn by the program: fish of four kinds, five colors, three patterns.

They can be grouped by any of the three, so that only the person at the screen knows which is meant.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from likewise.errors import needs_extra

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

SIZE = 560
"""Pixels of a picture, in width and height."""
FINER = 2
"""Shapes are drawn this many times larger and then scaled down, which smooths their edges."""
N_FISH = 96
COLORS = {
    "red": ("#ee6c5a", "#c2452f"),
    "yellow": ("#f1b52c", "#b97f0b"),
    "green": ("#3f9f6c", "#23724a"),
    "blue": ("#2f80c2", "#1d5487"),
    "purple": ("#8c5cb8", "#5f3a86"),
}
"""The color of the body and the darker one of fins and stripes."""
PATTERNS = ("plain", "stripes", "spots")
WATER = (238, 244, 251)
"""One color, so that nothing is seen of where a picture ends."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Kind:
    """The shape of a kind of fish, which looks to the right; its middle is 0, 0.

    Attributes
    ----------
    body, tail, fin : sequence of point
        Outlines; the fin lies on the body.
    behind : sequence of sequence of point
        Outlines of what the body covers in part: fins and spikes on its back.
    eye : point
        Where the eye is.
    eye_size : float
        The radius of the white of the eye.
    """

    body: Sequence[Point]
    tail: Sequence[Point]
    fin: Sequence[Point]
    behind: Sequence[Sequence[Point]]
    eye: Point
    eye_size: float


@dataclass(frozen=True)
class Fish:
    """One fish: what it is, how it looks, and how it swims."""

    kind: str
    color: str
    pattern: str
    scale: float
    turn: float
    looks_left: bool
    seed: int


def curve(*points: Point, n: int = 24) -> list[Point]:
    """Return points along cubic curves: a start, then two controls and an end for each."""
    found = [points[0]]
    for k in range(0, len(points) - 1, 3):
        a, b, c, d = points[k : k + 4]
        for step in range(1, n + 1):
            t = step / n
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            x, y = (
                sum(w * p[i] for w, p in zip(weights, (a, b, c, d), strict=True)) for i in (0, 1)
            )
            found.append((x, y))
    return found


def oval(width: float, height: float, n: int = 72) -> list[Point]:
    """Return the outline of an ellipse around 0, 0."""
    angles = [2 * math.pi * k / n for k in range(n)]
    return [(width * math.cos(a), height * math.sin(a)) for a in angles]


def tail(x: float, reach: float, height: float) -> list[Point]:
    """Return a tail with two tips that begins at `x`."""
    end = x - reach
    upper = curve((x, 0), (x - reach / 3, 0), (end + reach / 4, -height), (end, -height))
    hollow = curve(
        (end, -height), (end + reach / 3, -height / 3), (end + reach / 3, height / 3), (end, height)
    )
    lower = curve((end, height), (end + reach / 4, height), (x - reach / 3, 0), (x, 0))
    return upper + hollow + lower


@cache
def kinds() -> dict[str, Kind]:
    """Return the four kinds by name."""
    side_fin = curve(
        (0.0, 0.02), (-0.02, 0.2), (-0.14, 0.3), (-0.3, 0.34), (-0.3, 0.2), (-0.2, 0.06), (0, 0.02)
    )
    return {
        "angelfish": Kind(
            body=curve(
                (-0.52, 0), (-0.2, -0.42), (0.1, -0.8), (0.42, -0.88),
                (0.36, -0.5), (0.48, -0.25), (0.62, 0),
                (0.48, 0.25), (0.36, 0.5), (0.42, 0.88),
                (0.1, 0.8), (-0.2, 0.42), (-0.52, 0),
            ),
            tail=tail(-0.46, 0.44, 0.3),
            fin=[(x * 0.8 - 0.02, y * 0.8 + 0.02) for x, y in side_fin],
            behind=[],
            eye=(0.38, -0.12),
            eye_size=0.1,
        ),
        "puffer": Kind(
            body=oval(0.62, 0.54),
            tail=tail(-0.56, 0.34, 0.24),
            fin=side_fin,
            behind=[
                [(x - 0.075, -0.36), (x, -0.74 + 0.28 * x * x), (x + 0.075, -0.36)]
                for x in (-0.36, -0.22, -0.08, 0.06, 0.2, 0.34)
            ],
            eye=(0.34, -0.14),
            eye_size=0.115,
        ),
        "goldfish": Kind(
            body=curve(
                (-0.62, 0), (-0.4, -0.42), (0.2, -0.6), (0.66, -0.05),
                (0.68, 0), (0.68, 0), (0.66, 0.05),
                (0.2, 0.58), (-0.4, 0.42), (-0.62, 0),
            ),
            tail=tail(-0.54, 0.48, 0.42),
            fin=side_fin,
            behind=[curve((-0.3, -0.26), (-0.26, -0.6), (0.02, -0.72), (0.24, -0.66),
                          (0.22, -0.5), (0.26, -0.4), (0.3, -0.3))],
            eye=(0.42, -0.1),
            eye_size=0.095,
        ),
        "barracuda": Kind(
            body=curve(
                (-0.78, 0), (-0.5, -0.2), (0.3, -0.34), (0.98, 0.02),
                (0.3, 0.3), (-0.5, 0.2), (-0.78, 0),
            ),
            tail=tail(-0.72, 0.32, 0.28),
            fin=[(x * 0.6 + 0.1, y * 0.55 + 0.02) for x, y in side_fin],
            behind=[curve((-0.3, -0.13), (-0.24, -0.34), (-0.06, -0.4), (0.1, -0.36),
                          (0.1, -0.3), (0.14, -0.22), (0.18, -0.16))],
            eye=(0.62, -0.06),
            eye_size=0.075,
        ),
    }  # fmt: skip


@cache
def school(n: int = N_FISH, seed: int = 0) -> tuple[Fish, ...]:
    """Return fish in a random order, with every combination of kind, color and pattern."""
    random = Random(seed)
    mixes = list(product(kinds(), COLORS, PATTERNS))
    chosen = mixes + random.sample(mixes, n - len(mixes))
    random.shuffle(chosen)
    return tuple(
        Fish(*mix, random.uniform(0.86, 1.0), random.uniform(-9, 9), random.random() < 0.4, k)
        for k, mix in enumerate(chosen)
    )


def draw(fish: Fish) -> Image.Image:
    """Return a picture of a fish in light water."""
    with needs_extra("drawing pictures", "app"):
        from PIL import Image, ImageDraw

    kind, random = kinds()[fish.kind], Random(fish.seed)
    side = SIZE * FINER
    body_color, dark = COLORS[fish.color]
    picture = Image.new("RGB", (side, side), WATER)
    place = _placing(fish, side)

    pen = ImageDraw.Draw(picture)
    for outline in (kind.tail, *kind.behind):
        pen.polygon(list(map(place, outline)), fill=dark)
    _rays(pen, kind, place, _mixed(dark, "#ffffff", 0.24), side)

    mask = Image.new("L", (side, side), 0)
    ImageDraw.Draw(mask).polygon(list(map(place, kind.body)), fill=255)
    skin = Image.new("RGB", (side, side), body_color)
    ink = ImageDraw.Draw(skin)
    if fish.pattern == "stripes":
        for outline in _stripes():
            ink.polygon(list(map(place, outline)), fill=dark)
    elif fish.pattern == "spots":
        for outline in _spots(random):
            ink.polygon(list(map(place, outline)), fill=_lighter(body_color))
    picture.paste(skin, mask=mask)

    # Light from above, and a lighter belly, as far as they lie on the body.
    light = Image.new("L", (side, side), 0)
    ridge = curve((-1.2, -0.05), (-0.5, -0.26), (0.4, -0.26), (1.2, -0.05))
    ImageDraw.Draw(light).polygon(list(map(place, [*ridge, (1.2, -1.2), (-1.2, -1.2)])), fill=34)
    above = Image.composite(light, Image.new("L", (side, side), 0), mask)
    picture.paste("#ffffff", mask=above)
    belly = Image.new("L", (side, side), 0)
    top = curve((-1.2, 0.3), (-0.4, 0.16), (0.4, 0.16), (1.2, 0.3))
    ImageDraw.Draw(belly).polygon(list(map(place, [*top, (1.2, 1.2), (-1.2, 1.2)])), fill=88)
    both = Image.composite(belly, Image.new("L", (side, side), 0), mask)
    picture.paste("#ffffff", mask=both)

    pen = ImageDraw.Draw(picture)
    pen.polygon(list(map(place, kind.fin)), fill=dark)
    _face(pen, kind, place, dark, side)
    for size, color, shift in (
        (1.0, "#ffffff", 0.0),
        (0.55, "#1c2430", 0.22),
        (0.18, "#ffffff", 0.4),
    ):
        rim = oval(size * kind.eye_size, size * kind.eye_size)
        x, y = kind.eye[0] + shift * kind.eye_size, kind.eye[1] - 0.3 * shift * kind.eye_size
        pen.polygon([place((x + a, y + b)) for a, b in rim], fill=color)
    _bubbles(pen, fish, random, side)
    return picture.reduce(FINER)


def write_fish(folder: Path, number: int) -> None:
    """Draw one of the fish into a folder, as a file that is called by its number alone."""
    folder.mkdir(parents=True, exist_ok=True)
    draw(school()[number]).save(folder / f"{number:02d}.png", compress_level=1)


def write_aquarium(folder: Path, progress: Callable[[int, int], object] | None = None) -> int:
    """Draw all fish into a folder; return how many there are."""
    n = len(school())
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done, _ in enumerate(pool.map(partial(write_fish, folder), range(n)), start=1):
            if progress is not None:
                progress(done, n)
    return n


def _placing(fish: Fish, side: int) -> Callable[[Point], Point]:
    """Return the function from a point of the shape to one of the picture."""
    size = 0.42 * side * fish.scale
    sign = -1 if fish.looks_left else 1
    cos, sin = math.cos(math.radians(fish.turn)), math.sin(math.radians(fish.turn))

    def place(point: Point) -> Point:
        x, y = sign * point[0], point[1]
        return side / 2 + size * (cos * x - sin * y), side / 2 + size * (sin * x + cos * y)

    return place


def _stripes() -> Iterator[list[Point]]:
    for x in (-0.52, -0.22, 0.08, 0.38, 0.68):
        yield [(x, -1), (x + 0.13, -1), (x + 0.05, 1), (x - 0.08, 1)]


def _spots(random: Random) -> Iterator[list[Point]]:
    for k in range(-4, 5):
        for m in range(-4, 5):
            x = 0.24 * k + 0.12 * (m % 2) + random.uniform(-0.04, 0.04)
            y = 0.22 * m + random.uniform(-0.04, 0.04)
            size = random.uniform(0.05, 0.075)
            yield [(x + a, y + b) for a, b in oval(size, size, 28)]


def _rays(
    pen: ImageDraw.ImageDraw, kind: Kind, place: Callable[[Point], Point], color: str, side: int
) -> None:
    """Draw rays on the tail, from where it begins to its hollow end."""
    x, _ = kind.tail[0]
    end = min(point[0] for point in kind.tail)
    height = max(point[1] for point in kind.tail)
    for share in (-0.62, -0.31, 0.0, 0.31, 0.62):
        reach = 0.52 + 0.3 * abs(share)
        tip = (x + (end - x) * reach, share * height * reach)
        pen.line([place((x - 0.06, share * 0.05)), place(tip)], fill=color, width=side // 200)


def _face(
    pen: ImageDraw.ImageDraw, kind: Kind, place: Callable[[Point], Point], color: str, side: int
) -> None:
    """Draw the gill, behind the eye."""
    x, y = kind.eye[0] - 2.1 * kind.eye_size, kind.eye[1] + 0.4 * kind.eye_size
    size = 1.9 * kind.eye_size
    gill = curve(
        (x, y - size),
        (x - 0.7 * size, y - 0.4 * size),
        (x - 0.7 * size, y + 0.5 * size),
        (x, y + size),
    )
    pen.line(list(map(place, gill)), fill=color, width=side // 150, joint="curve")


def _mixed(color: str, other: str, share: float) -> str:
    """Return a color with a share of another."""
    both = ((int(color[k : k + 2], 16), int(other[k : k + 2], 16)) for k in (1, 3, 5))
    return "#" + "".join(f"{round((1 - share) * a + share * b):02x}" for a, b in both)


def _lighter(color: str) -> tuple[int, ...]:
    """Return a color that is mostly white; spots of pure white would look like holes."""
    return tuple(round(0.25 * int(color[k : k + 2], 16) + 0.75 * 255) for k in (1, 3, 5))


def _bubbles(pen: ImageDraw.ImageDraw, fish: Fish, random: Random, side: int) -> None:
    x = side * (0.1 if fish.looks_left else 0.9)
    for k in range(3):
        y, size = side * (0.34 - 0.09 * k), side * (0.012 + 0.005 * k)
        middle = x + side * random.uniform(-0.02, 0.02)
        box = (middle - size, y - size, middle + size, y + size)
        pen.ellipse(box, outline="#a9c8dc", width=side // 240)
