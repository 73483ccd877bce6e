"""The page that `likewise demo` writes: one file, no script, nothing fetched."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from likewise.core.reports import Progress

SHOWN_PER_GROUP = 48

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>likewise: {n_images} digits in {n_groups} groups</title>
<style>
:root {{ color-scheme: light dark; --ink: #1d2330; --soft: #5a6375; --line: #d9dde5;
  --paper: #fbfbf9; --card: #fff; --accent: #2456c8; }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #e8eaf0; --soft: #a3abbb; --line: #3a4150;
  --paper: #15181f; --card: #1d212a; --accent: #8fb0ff; }} }}
body {{ margin: 0 auto; max-width: 60rem; padding: 2.5rem 1.25rem 4rem; color: var(--ink);
  background: var(--paper); font: 1rem/1.55 system-ui, sans-serif; }}
h1 {{ font-size: 1.7rem; line-height: 1.25; margin: 0 0 .4rem; letter-spacing: -.01em; }}
h2 {{ font-size: 1.1rem; margin: 2.2rem 0 .6rem; }}
p.soft {{ color: var(--soft); margin: 0 0 1rem; max-width: 42rem; }}
svg text {{ font: 12px system-ui, sans-serif; fill: var(--soft); }}
svg .strong {{ fill: var(--ink); font-weight: 600; }}
.groups {{ display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); }}
section {{ background: var(--card); border: 1px solid var(--line); border-radius: .6rem;
  padding: .8rem 1rem 1rem; }}
section h3 {{ font-size: .95rem; margin: 0 0 .5rem; font-weight: 600; }}
section h3 span {{ color: var(--soft); font-weight: 400; }}
section img {{ display: block; width: 100%; image-rendering: pixelated; border-radius: .25rem; }}
</style>
<h1>{n_images} digits in {n_groups} groups, from {answered} answers</h1>
<p class="soft">Nobody said how many groups there are. {asked} pictures were looked at; where the
others belong was learned from the answers. The person was simulated; the pictures are the
handwritten digits that come with scikit-learn.</p>
<h2>Agreement with the true digits (adjusted Rand index) after every answer</h2>
{chart}
<h2>The groups</h2>
<p class="soft">Up to {shown} of each; the first ones were looked at.</p>
<div class="groups">
{groups}
</div>
</html>
"""


def demo_page(
    *,
    images: NDArray[np.uint8],
    labels: NDArray[np.intp],
    asked: NDArray[np.intp],
    curve: list[float],
    progress: Progress,
    kmeans_ari: float,
    k_true: int,
) -> str:
    """Return the page as text."""
    stands = np.isin(np.arange(len(labels)), asked)
    sizes = np.bincount(labels)
    groups: list[str] = []
    for group in np.argsort(-sizes, kind="stable"):
        members = np.flatnonzero(labels == group)
        members = members[np.argsort(~stands[members], kind="stable")][:SHOWN_PER_GROUP]
        source = base64.b64encode(png(contact_sheet(images[members]))).decode()
        number = len(groups) + 1
        groups.append(
            f"<section><h3>Group {number} <span>{sizes[group]} pictures</span></h3>"
            f'<img alt="Pictures of group {number}" src="data:image/png;base64,{source}"></section>'
        )
    return _PAGE.format(
        n_images=len(labels),
        n_groups=len(sizes),
        answered=progress.answered,
        asked=len(asked),
        shown=SHOWN_PER_GROUP,
        chart=chart(curve, kmeans_ari, k_true),
        groups="\n".join(groups),
    )


def chart(curve: list[float], kmeans_ari: float, k_true: int) -> str:
    """Return the curve of the ARI as an SVG drawing, with K-means as a dashed line."""
    width, height, left, right, bottom = 760, 260, 44, 660, 34

    def x_of(n: float) -> float:
        return left + n * (right - left) / max(1, len(curve) - 1)

    def y_of(ari: float) -> float:
        return 12 + (1 - ari) * (height - bottom - 12)

    def across(ari: float, style: str) -> str:
        y = f"{y_of(ari):.1f}"
        return f'<line x1="{left}" x2="{right}" y1="{y}" y2="{y}" {style}/>'

    def text(x: float, y: float, words: str, style: str = "") -> str:
        return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{words}</text>'

    points = " ".join(f"{x_of(n):.1f},{y_of(ari):.1f}" for n, ari in enumerate(curve))
    end_x, end_y = x_of(len(curve) - 1), y_of(curve[-1])
    middle, to_the_left = 'text-anchor="middle"', 'text-anchor="end"'
    ticks = (0, 0.5, 1)
    parts = [
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="ARI by number of answers, '
        f'from {curve[0]:.2f} to {curve[-1]:.2f}; K-means {kmeans_ari:.2f}" width="100%">',
        *(across(tick, 'stroke="var(--line)"') for tick in ticks),
        *(text(left - 8, y_of(tick) + 4, f"{tick:g}", to_the_left) for tick in ticks),
        *(text(x_of(n), height - 16, str(n), middle) for n in range(0, len(curve), 20)),
        text((left + right) / 2, height - 1, "answers", middle),
        across(kmeans_ari, 'stroke="var(--soft)" stroke-dasharray="5 5"'),
        text(
            right,
            y_of(kmeans_ari) + 18,
            f"K-means, told that there are {k_true} groups: {kmeans_ari:.2f}",
            to_the_left,
        ),
        f'<polyline points="{points}" fill="none" stroke="var(--accent)" stroke-width="2.5" '
        'stroke-linejoin="round"/>',
        f'<circle cx="{end_x:.1f}" cy="{end_y:.1f}" r="4" fill="var(--accent)"/>',
        text(end_x + 9, end_y + 4, f"likewise {curve[-1]:.2f}", 'class="strong"'),
        "</svg>",
    ]
    return "".join(parts)


def contact_sheet(images: NDArray[np.uint8], columns: int = 12, gap: int = 1) -> NDArray[np.uint8]:
    """Return small gray pictures side by side as one."""
    n, height, width = images.shape
    rows = -(-n // columns)
    sheet = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap), 255, np.uint8)
    for k, image in enumerate(images):
        top, left = (k // columns) * (height + gap), (k % columns) * (width + gap)
        sheet[top : top + height, left : left + width] = image
    return sheet


def png(gray: NDArray[np.uint8]) -> bytes:
    """Return a gray picture as a PNG file, which the base install can write without Pillow."""
    height, width = gray.shape
    lines = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(gray))

    def chunk(kind: bytes, body: bytes) -> bytes:
        check = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(lines, 9))
        + chunk(b"IEND", b"")
    )
