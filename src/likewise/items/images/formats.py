"""Which pictures can be read, and drawings and documents (SVG, PDF) as pictures.

Drawings and documents are small programs. They are drawn by another process, which gets their bytes
and has little time and memory; where the system can limit that, it can write no file.
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.util import find_spec
from io import BytesIO
from xml.parsers import expat

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".pgm", ".ppm")
"""What is always read."""
IMAGE_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "PPM")
"""The decoders that may be used; Pillow has more, and some of them start programs."""

EXTRA = "formats"
PACKAGES = {
    ".svg": "resvg_py", ".svgz": "resvg_py", ".pdf": "pypdfium2", ".heic": "pillow_heif",
    ".heif": "pillow_heif",
}  # fmt: skip
"""What is read if a package is installed."""
NEWER = ".avif"
"""What newer versions of Pillow read, where they were built with it."""
UNREAD_SUFFIXES = (
    ".tif", ".tiff", ".jxl", ".psd", ".eps", ".raw", ".cr2", ".cr3", ".nef", ".arw", ".dng", ".xcf",
    ".ai", ".ico", ".tga", ".jp2",
)  # fmt: skip
OTHER_SUFFIXES = (*PACKAGES, NEWER, *UNREAD_SUFFIXES)
"""Suffixes of other pictures, some of which are never read."""

SIDE = 1024
"""Drawings and pages are drawn with this many pixels on their longer side."""
SECONDS = 10
"""A drawing that takes longer is not shown. Maps of whole cities take two seconds."""
MEMORY = 2 << 30
LARGEST_DRAWING = 20 << 20
"""A drawing with more bytes is not drawn."""
LOOKED_AT = 4096
"""A file without ``<svg`` in this many first bytes is not a drawing."""

CHILD = """
import sys
limits = [("RLIMIT_AS", {memory}), ("RLIMIT_CPU", {seconds}), ("RLIMIT_FSIZE", 0)]
try:
    import resource
except ImportError:
    limits = []
{load}
for name, most in limits:
    resource.setrlimit(getattr(resource, name), (most, most))
data = sys.stdin.buffer.read()
{draw}
sys.stdout.buffer.write(png)
"""
LOAD = {"svg": "import resvg_py", "pdf": "import io, pypdfium2\nimport PIL.PngImagePlugin"}
DRAW = {
    # Without dots per inch, lengths in mm or pt are 0; 96 are what style sheets mean.
    "svg": (
        "png = resvg_py.svg_to_bytes(svg_string=data.decode(), background='white', dpi=96, "
        "**{{{side!r}: {pixels}}})"
    ),
    "pdf": (
        "page = pypdfium2.PdfDocument(data)[0]\n"
        "scale = {pixels} / max(*page.get_size(), 1)\n"
        "file = io.BytesIO()\n"
        "page.render(scale=scale, may_draw_forms=False).to_pil().save(file, 'png')\n"
        "png = file.getvalue()"
    ),
}


class DrawingError(Exception):
    """A drawing or a page that cannot be shown, with the reason."""


@cache
def readable() -> tuple[str, ...]:
    """Return the suffixes of the pictures that can be read here."""
    more = [suffix for suffix, package in PACKAGES.items() if find_spec(package) is not None]
    return (*IMAGE_SUFFIXES, *more, *([NEWER] if _has_avif() else []))


def _has_avif() -> bool:
    from PIL import features

    with_avif: bool = "avif" in features.modules and bool(features.check("avif"))
    return with_avif


def why_unread(suffix: str) -> str:
    """Return why pictures with a suffix are not read, and what can be done."""
    if suffix in PACKAGES:
        return f'pip install "likewise[{EXTRA}]" reads them'
    if suffix == NEWER:
        return "a newer Pillow reads them: pip install --upgrade pillow"
    return "Convert them to PNG"


def decoders() -> tuple[str, ...]:
    """Return the names of Pillow's decoders that may be used."""
    names = list(IMAGE_FORMATS)
    if NEWER in readable():
        names.append("AVIF")
    if ".heic" in readable():
        _register_heif()
        names.append("HEIF")
    return tuple(names)


@cache
def _register_heif() -> None:
    import pillow_heif

    # Thumbnails and depth maps inside of the file are not looked at.
    pillow_heif.register_heif_opener(thumbnails=False, depth_images=False, aux_images=False)


def drawn(data: bytes, suffix: str) -> bytes:
    """Return a drawing or the first page of a document as PNG, and a picture as it is.

    Only files that are called so are drawn: SVG that is called a photo is no photo.
    """
    if suffix == ".pdf":
        if not data.startswith(b"%PDF-"):
            raise DrawingError("it is not a picture that can be read")
        return _draw("pdf", data, "width")
    if suffix not in (".svg", ".svgz"):
        return data
    if data.startswith(b"\x1f\x8b"):
        data = _unzipped(data)
    if len(data) > LARGEST_DRAWING:
        raise DrawingError(f"the drawing has more than {LARGEST_DRAWING >> 20} MiB")
    text = _decoded(data)
    if not is_drawing(text):
        raise DrawingError("it is not a picture that can be read")
    return _draw("svg", text.encode(), _longer_side(text))


def is_drawing(text: str) -> bool:
    """Whether this is SVG."""
    begins = text[:LOOKED_AT].lstrip()
    return begins.startswith("<") and "<svg" in begins


def _decoded(data: bytes) -> str:
    """Return an XML file as text, so that what is checked is what is drawn."""
    declared = ENCODING.match(data)
    name = declared[1].decode().lower() if declared else "utf-8-sig"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        name = "utf-16"
    elif data.startswith(b"\xef\xbb\xbf") or name == "utf-8":
        name = "utf-8-sig"
    elif declared and not ONE_BYTE.fullmatch(name):
        raise DrawingError(f"its encoding is {name}, which is not read. Save it as UTF-8")
    try:
        return data.decode(name)
    except (UnicodeDecodeError, LookupError) as error:
        raise DrawingError(f"it is damaged ({error})") from error


def _unzipped(data: bytes) -> bytes:
    try:
        with gzip.open(BytesIO(data)) as file:
            return file.read(LARGEST_DRAWING + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DrawingError(f"it cannot be unpacked ({error})") from error


@lru_cache(maxsize=64)
def _draw(kind: str, data: bytes, side: str) -> bytes:
    """Draw in another process; drawings that are looked at again are kept."""
    package, suffix = {"svg": ("resvg_py", ".svg"), "pdf": ("pypdfium2", ".pdf")}[kind]
    if find_spec(package) is None:
        raise DrawingError(f"{suffix[1:].upper()} is not read: {why_unread(suffix)}")
    draw = DRAW[kind].format(side=side, pixels=SIDE)
    code = CHILD.format(memory=MEMORY, seconds=SECONDS, load=LOAD[kind], draw=draw)
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", code],
            input=data,
            capture_output=True,
            timeout=3 * SECONDS,
            check=False,
            # One thread, or the limit of memory would be taken by the stacks of many.
            env={**os.environ, "RAYON_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        is_late = isinstance(error, subprocess.TimeoutExpired)
        why = "drawing it takes too long" if is_late else f"it cannot be drawn ({error})"
        raise DrawingError(why) from error
    if done.returncode != 0 or not done.stdout.startswith(b"\x89PNG"):
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        # The last line of a traceback is the kind of error and what it says.
        last = said[-1].rpartition("Error: ")[2] if said else ""
        why = last[:200] if last and done.returncode > 0 else "too much time or memory"
        raise DrawingError(f"it cannot be drawn ({why})")
    return done.stdout


ENCODING = re.compile(rb"""<\?xml\s[^>]{0,200}?\sencoding\s*=\s*["']([\w.:-]{1,30})["']""")
ONE_BYTE = re.compile(r"us-ascii|iso-8859-\d\d?|latin-?1|windows-125\d|cp125\d")
"""Encodings with one byte a letter. Others of Python's may be slow, or are for other things."""
LONGEST_ENTITY = 200
STRANGE = "it declares entities that are more than a few words"
WITHIN = re.compile(r"data:image/(?:png|jpe?g|gif|webp)[;,]")
"""How the address of a picture within a drawing begins. SVG would have addresses of its own, and
the renderer takes any type that it does not know for SVG."""
NUMBER = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(?:px|pt|mm|cm|in|pc)?\s*")


def _longer_side(text: str) -> str:
    """Return which side of an SVG is longer; refuse one that names anything outside of itself.

    The renderer follows no addresses, but would read files of this machine into the picture.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    root: list[Mapping[str, str]] = []
    entities: list[str] = []

    def declare(name: str, is_parameter: bool, value: str | None, *_outside: object) -> None:
        # Adobe Illustrator writes short ones, for namespaces. With others, a drawing could read
        # files or grow beyond bounds.
        is_plain = value is not None and len(value) <= LONGEST_ENTITY and not {*"<&%"} & {*value}
        if is_parameter or not is_plain:
            raise DrawingError(STRANGE)
        entities.append(name)

    def start(_name: str, about: Mapping[str, str]) -> None:
        if not root:
            root.append(about)
        for name, value in about.items():
            if name.rpartition(" ")[2] == "href" and not _is_inside(_name, value):
                raise DrawingError("it refers to another file, which is not followed")

    parser.EntityDeclHandler = declare
    parser.StartElementHandler = start
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise DrawingError(f"it is damaged ({error})") from error
    # Of two with one name the parser tells one, and the renderer could take the other.
    if text.count("<!ENTITY") != len(entities):
        raise DrawingError(STRANGE)
    about = root[0]
    box = about.get("viewBox", "").replace(",", " ").split()
    sides = [NUMBER.fullmatch(about.get(name, "")) for name in ("width", "height")]
    if all(sides):
        wide, high = (float(side[1]) for side in sides if side is not None)
    elif len(box) == 4:
        try:
            wide, high = float(box[2]), float(box[3])
        except ValueError:
            wide = high = 1.0
    else:
        wide = high = 1.0
    if min(wide, high) <= 0 or max(wide, high) > 1000 * min(wide, high):
        raise DrawingError("it has no area")
    return "width" if wide >= high else "height"


def _is_inside(element: str, address: str) -> bool:
    """Whether an address is a place in the drawing, a picture within it, or only a link."""
    address = address.strip()
    if element.rpartition(" ")[2] == "a" or address.startswith("#") or not address:
        return True
    return WITHIN.match(address) is not None
