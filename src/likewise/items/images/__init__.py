"""Pictures: in a folder, or in memory."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from likewise.errors import InputError
from likewise.files import check_regular, open_regular
from likewise.items.cache import FeatureCache
from likewise.items.encoders import (
    AUTO,
    PictureEncoder,
    check_same,
    check_trusted,
    named,
    notices,
)
from likewise.items.features import Aspect, Features, Problem
from likewise.items.images import recipes
from likewise.items.images.decoding import (
    BrokenPictureError,
    decode,
    encode,
    open_picture,
    placeholder,
    read_file,
    require_pillow,
    to_rgb,
    upright_size,
)
from likewise.items.images.formats import (
    IMAGE_SUFFIXES,
    OTHER_SUFFIXES,
    readable,
    why_unread,
)
from likewise.items.items import Items, OnProgress, digest
from likewise.items.limits import files_below, name_in, names_in
from likewise.items.tablefiles import MEMORY
from likewise.items.tables import numbered

if TYPE_CHECKING:
    from PIL import Image

LARGEST_THUMBNAIL = 4096
"""The largest size of a thumbnail in pixels."""
CHUNK = 128
"""How many pictures are in memory at a time."""

Look = tuple[tuple[int, int], str, str]
"""The size and the hash of a picture, and what is wrong with it, if anything."""


class ImageItems(Items):
    """Pictures, by default those in a folder and below; a broken one stays, with a placeholder."""

    kind = "images"
    noun = "picture"
    options = ("encoder", "white")
    has_pictures = True

    def __init__(
        self,
        source: Path,
        ids: Sequence[str],
        looks: Sequence[Look],
        load: recipes.Load,
        *,
        locations: Sequence[str],
        encoder: str | Sequence[str],
        cache: FeatureCache,
        problems: Iterable[Problem] = (),
        notes: Iterable[str] = (),
    ) -> None:
        self._sizes = [size for size, _, _ in looks]
        self._hashes = [content for _, content, _ in looks]
        broken = [
            Problem(i, f"{ids[i]}: {fault}") for i, (_, _, fault) in enumerate(looks) if fault
        ]
        self._encoder = named(encoder)
        said = notices(self._encoder)
        super().__init__(source, ids, problems=(*problems, *broken), notes=(*notes, *said))
        self._broken = {problem.item for problem in broken if problem.item is not None}
        if len(broken) == len(ids):
            raise InputError(
                f"none of the pictures in {source} can be read: {self.problems[0].message}"
            )
        self._load = load
        self._locations = locations
        self._folder: Path | None = None
        self._cache = cache
        self._thumbnail = lru_cache(maxsize=256)(self._encode)

    def title(self, i: int) -> str:
        """Return the name of the file; one that is only a number says nothing."""
        stem = Path(self.ids[i]).stem
        is_number = stem.isdecimal() and stem.isascii() and "/" not in self.ids[i]
        return f"Picture {int(stem)}" if is_number else super().title(i)

    @classmethod
    def recognizes(cls, source: Any, options: Mapping[str, Any]) -> bool:
        """Whether this is a folder with pictures."""
        if not (isinstance(source, Path) and source.is_dir()):
            return False
        suffixes = (*IMAGE_SUFFIXES, *OTHER_SUFFIXES)
        return any(path.suffix.lower() in suffixes for path in files_below(source))

    @classmethod
    def require(cls, source: Path, options: Mapping[str, Any]) -> None:
        """Raise the error with the install command where Pillow is missing."""
        require_pillow()

    @classmethod
    def open(
        cls,
        source: Any,
        *,
        cache: FeatureCache,
        encoder: str | Sequence[str] = AUTO,
        white: float | None = None,
    ) -> Self:
        """Look for the pictures in a folder, or take those in a list.

        `white` is the number that is white in arrays of pixels, by default the largest.
        """
        require_pillow()
        if isinstance(source, list):
            return cls._in_memory(source, white, encoder=encoder, cache=cache)
        if white is not None:
            raise InputError(f"white is for arrays of pixels, not for {source}")
        if not source.is_dir():
            raise InputError(f"{source} is not a folder of pictures")
        folder = source.resolve()
        paths, problems, notes = find_pictures(folder)
        with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
            looks = list(pool.map(lambda path: _look(path, folder), paths))
        items = cls(
            source,
            names_in(paths, folder),
            looks,
            lambda i, at_least: decode(
                read_file(paths[i], folder), at_least, paths[i].suffix.lower()
            ),
            locations=[str(path) for path in paths],
            encoder=encoder,
            cache=cache,
            problems=problems,
            notes=notes,
        )
        items._folder = folder
        return items

    @classmethod
    def _in_memory(cls, things: Sequence[Any], white: float | None, **options: Any) -> Self:
        """Return pictures from paths, PIL images or arrays of pixels."""
        pictures = [_picture_or_pixels(i, thing) for i, thing in enumerate(things)]
        arrays = [one for one in pictures if isinstance(one, np.ndarray)]
        tops = (float(one[np.isfinite(one)].max(initial=0)) for one in arrays)
        white = white or max(tops, default=1.0) or 1.0
        load = partial(_loaded, pictures, white)
        whole = (load(i, LARGEST_THUMBNAIL) for i in range(len(pictures)))
        looks = [(one.size, digest(one.tobytes(), str(one.size)), "") for one in whole]
        names = [Path(one).name if isinstance(one, str | os.PathLike) else "" for one in pictures]
        is_named = all(names) and len(set(names)) == len(names)
        ids = names if is_named else numbered(len(pictures))
        items = cls(MEMORY, ids, looks, load, locations=ids, **options)
        items._opened_with = {"white": white} if arrays else {}
        return items

    def view(self, i: int) -> dict[str, Any]:
        """Return the size of the picture, the right way up."""
        width, height = self._sizes[i]
        return {
            "kind": self.kind,
            "picture": True,
            "width": width,
            "height": height,
            "broken": i in self._broken,
        }

    def content_hash(self, i: int) -> str:
        """Return a hash of the file's bytes."""
        return self._hashes[i]

    def location(self, i: int) -> str:
        """Return the path of picture `i`, to be opened from a terminal."""
        return self._locations[i]

    def file(self, i: int) -> Path | None:
        """Return the file of picture `i`, unless it is gone or now leads out of the folder."""
        if self._folder is None:
            return None
        try:
            path = Path(self._locations[i]).resolve(strict=True)
            check_regular(path)
        except (InputError, OSError, RuntimeError):
            return None
        return path if path.is_relative_to(self._folder) else None

    def thumbnail(self, i: int, size: int = 512, *, format: str = "webp") -> bytes:
        """Return picture `i` with at most `size` pixels a side, or a placeholder."""
        if not 1 <= size <= LARGEST_THUMBNAIL:
            raise InputError(f"a thumbnail has 1 to {LARGEST_THUMBNAIL} pixels, not {size}")
        if not 0 <= i < self.n:
            raise InputError(f"there is no picture {i}, only 0 to {self.n - 1}")
        return self._thumbnail(i, size, format)

    def _encode(self, i: int, size: int, format: str) -> bytes:
        try:
            picture = placeholder(size) if i in self._broken else self._load(i, size)
        except BrokenPictureError:
            picture = placeholder(size)
        return encode(picture, size, format)

    def aspects(self) -> list[Aspect]:
        """Return the *content* of the pictures, where there is a network, and their *layout*."""
        return recipes.aspects(self._encoder)

    def takes_long(self, aspects: Sequence[Aspect]) -> bool:
        """Whether describing takes long: it does, since pictures must be decoded."""
        return self._own is None

    def compute(
        self,
        aspect: Aspect,
        progress: OnProgress | None = None,
        places: Sequence[int] | None = None,
    ) -> Features:
        """Compute features, or fetch those in the cache; broken pictures get the mean."""
        return self.compute_all([aspect], progress, places)[0]

    def compute_all(
        self,
        aspects: Sequence[Aspect],
        progress: OnProgress | None = None,
        places: Sequence[int] | None = None,
    ) -> list[Features]:
        """Compute the features by all aspects at once: every picture is decoded once."""
        wanted = range(self.n) if places is None else places
        hashes = [self._hashes[i] for i in wanted]
        whole = {self._hashes[i]: i for i in wanted if i not in self._broken}
        parts = [_Part(aspect, self._encoder, self._cache, hashes) for aspect in aspects]
        new = [one for one in whole if any(one not in part.rows_by_hash for part in parts)]
        faults: dict[str, str] = {}
        for start in range(0, len(new), CHUNK):
            chunk = new[start : start + CHUNK]
            lacking = [part for part in parts if any(one not in part.rows_by_hash for one in chunk)]
            squares = {}
            chunk_places, sides = [whole[one] for one in chunk], [p.encoder.side for p in lacking]
            read = recipes.squares(chunk_places, self._load, sides)
            for one, square in zip(chunk, read, strict=True):
                if isinstance(square, BrokenPictureError):
                    faults[one] = str(square)
                else:
                    squares[one] = square
            for part, own in zip(lacking, zip(*squares.values(), strict=True), strict=False):
                part.learn(dict(zip(squares, own, strict=True)))
            if progress is not None:
                progress(len(wanted) - len(new[start + CHUNK :]), len(wanted))
        problems = tuple(
            Problem(k, f"{self.ids[i]}: {faults[self._hashes[i]]}")
            for k, i in enumerate(wanted)
            if self._hashes[i] in faults
        )
        readable = [self._hashes[i] if i not in self._broken else "" for i in wanted]
        notes = self._cache.notes
        return [Features(part.rows(readable), notes=notes, problems=problems) for part in parts]


class _Part:
    """The features of pictures by one aspect: those in the cache, and those that are computed."""

    def __init__(
        self, aspect: Aspect, trusted: Sequence[str], cache: FeatureCache, hashes: Sequence[str]
    ) -> None:
        ((self._name, self._made_by),) = zip(
            aspect.recipe["encoders"], aspect.recipe["keys"], strict=True
        )
        check_trusted([self._name], trusted)
        self._cache, self._key = cache, f"images, {self._made_by}"
        self.rows_by_hash = cache.find(self._key, hashes)

    @cached_property
    def encoder(self) -> PictureEncoder:
        """The encoder; it is not loaded if everything is in the cache."""
        encoder = recipes.find_encoder(self._name)
        check_same(encoder, self._made_by)
        return encoder

    def learn(self, squares: Mapping[str, np.ndarray]) -> None:
        """Describe pictures, except those that are known already, and keep the results."""
        new = {one: square for one, square in squares.items() if one not in self.rows_by_hash}
        if new:
            rows = self.encoder.encode(np.stack(list(new.values()))).astype(np.float32)
            fresh = dict(zip(new, rows, strict=True))
            self.rows_by_hash |= fresh
            self._cache.keep(self._key, fresh)

    def rows(self, hashes: Sequence[str]) -> np.ndarray:
        """Return a row for each of these; the mean where a picture is not known."""
        readable = [k for k, one in enumerate(hashes) if one in self.rows_by_hash]
        if not readable:
            raise InputError("none of the pictures can be read")
        described = np.stack([self.rows_by_hash[hashes[k]] for k in readable])
        X = np.tile(described.mean(axis=0), (len(hashes), 1))
        X[readable] = described
        return X


def find_pictures(folder: Path) -> tuple[list[Path], list[Problem], list[str]]:
    """List the pictures below a resolved folder, the files refused, and those skipped."""
    paths: list[Path] = []
    problems: list[Problem] = []
    unread, others = Counter[str](), Counter[str]()
    suffixes = readable()

    def leave_out(path: Path, why: str) -> None:
        if not path.suffix or path.suffix.lower() in suffixes:
            problems.append(Problem(None, f"{name_in(path, folder)}: {why}, left out"))

    found = files_below(folder, leave_out)
    for path in sorted(found, key=lambda path: path.relative_to(folder).parts):
        suffix = path.suffix.lower()
        if suffix in suffixes:
            paths.append(path)
        elif suffix in OTHER_SUFFIXES:
            unread[suffix] += 1
            why = f"{suffix} is not read. {why_unread(suffix)}"
            problems.append(Problem(None, f"{name_in(path, folder)}: {why}"))
        else:
            others[suffix or "without suffix"] += 1
    notes = []
    for remedy in dict.fromkeys(map(why_unread, unread)):
        some = Counter({one: n for one, n in unread.items() if why_unread(one) == remedy})
        notes.append(f"pictures that cannot be read were left out: {_listed(some)}. {remedy}")
    if not paths:
        series = "For a folder of time series use --series; for a table give its file"
        why = [*notes, *(problem.message for problem in problems), series][0]
        formats = ", ".join(suffix[1:] for suffix in suffixes)
        raise InputError(f"there are no pictures in {folder} that can be read ({formats}). {why}.")
    if others:
        notes.append(f"files that are not pictures were left out: {_listed(others)}")
    return paths, problems, notes


def _listed(counts: Counter[str]) -> str:
    """Return how many files there are of each suffix, in words."""
    return ", ".join(f"{n} {suffix}" for suffix, n in counts.most_common())


def _look(path: Path, folder: Path) -> Look:
    data = None
    try:
        data = read_file(path, folder)
        return upright_size(open_picture(data, path.suffix.lower())), digest(data), ""
    except BrokenPictureError as error:
        return (1, 1), "" if data is None else digest(data), str(error)


def _picture_or_pixels(i: int, thing: Any) -> Any:
    """Return a path or a PIL image as it is, and anything else as an array of pixels."""
    if isinstance(thing, str | os.PathLike) or type(thing).__module__.startswith("PIL."):
        return thing
    pixels = np.asarray(thing)
    n_channels = pixels.shape[2] if pixels.ndim == 3 else 1
    is_numbers = pixels.dtype.kind in "buif" and pixels.size > 0
    if not is_numbers or pixels.ndim not in (2, 3) or n_channels > 4:
        raise InputError(
            f"item {i} is no picture: pixels are numbers of shape (height, width) or (height, "
            f"width, channels) with up to 4 channels, got {pixels.dtype} {pixels.shape}"
        )
    return pixels[:, :, 0] if pixels.ndim == 3 and n_channels == 1 else pixels


def _loaded(pictures: Sequence[Any], white: float, i: int, at_least: int) -> Image.Image:
    """Return a picture in memory as RGB; raise `InputError` for one that cannot be shown."""
    from PIL import Image

    picture = pictures[i]
    if isinstance(picture, str | os.PathLike):
        try:
            with open_regular(picture) as file:
                return decode(file.read(), at_least, Path(picture).suffix.lower())
        except (OSError, InputError, BrokenPictureError) as error:
            raise InputError(f"item {i}, {picture}, cannot be shown: {error}") from error
    if not isinstance(picture, np.ndarray):
        return to_rgb(picture)
    if picture.dtype != np.uint8:
        if not np.isfinite(picture).all():
            raise InputError(f"item {i} has pixels that are NaN or infinite: fill them in")
        picture = (picture.clip(0, white) * (255.0 / white)).astype(np.uint8)
    return to_rgb(Image.fromarray(picture))
