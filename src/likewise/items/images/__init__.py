"""A folder of pictures."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from likewise.errors import InputError
from likewise.items.cache import FeatureCache
from likewise.items.images.decoding import (
    IMAGE_SUFFIXES,
    OTHER_SUFFIXES,
    BrokenPictureError,
    decode,
    encode,
    open_picture,
    placeholder,
    read_file,
    require_pillow,
    upright_size,
)
from likewise.items.images.recipes import choose_recipe, image_features
from likewise.items.items import Features, Items, OnProgress, Problem, digest
from likewise.items.limits import files_below, name_in

if TYPE_CHECKING:
    from PIL.Image import Image

LARGEST_THUMBNAIL = 4096
"""The largest size of a thumbnail in pixels."""


class ImageItems(Items):
    """The pictures in a folder and the folders below it, in order of their paths.

    The view also has ``"width"``, ``"height"`` and ``"broken"``. A picture that cannot be decoded
    stays an item, with a placeholder. Links that lead out of the folder are not followed.
    """

    kind = "images"
    noun = "picture"
    options = ("image_features",)
    has_pictures = True

    def __init__(
        self, folder: Path, *, recipe: str = "auto", cache: FeatureCache | None = None
    ) -> None:
        require_pillow()
        self._folder = folder.resolve()
        self._recipe = choose_recipe(recipe)
        self._cache = cache or FeatureCache(None)
        paths, problems, notes = find_pictures(self._folder)
        self._paths = paths
        ids = [name_in(path, self._folder) for path in paths]
        self._sizes: list[tuple[int, int]] = []
        self._hashes: list[str] = []
        with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
            looks = pool.map(lambda path: _look(path, self._folder), paths)
            for i, (size, content, fault) in enumerate(looks):
                self._sizes.append(size)
                self._hashes.append(content)
                if fault:
                    problems.append(Problem(i, f"{ids[i]}: {fault}"))
        super().__init__(folder, ids, problems=problems, notes=notes)
        self._broken = {problem.item for problem in problems if problem.item is not None}
        if len(self._broken) == len(paths):
            raise InputError(f"none of the pictures in {folder} can be read: {problems[0].message}")
        self._thumbnail = lru_cache(maxsize=256)(self._encode)

    @classmethod
    def recognizes(cls, source: Any, options: Mapping[str, Any]) -> bool:
        """Whether this is a folder with pictures."""
        if not (isinstance(source, Path) and source.is_dir()):
            return False
        known = (*IMAGE_SUFFIXES, *OTHER_SUFFIXES)
        return any(path.suffix.lower() in known for path in files_below(source))

    @classmethod
    def open(cls, source: Path, *, cache: FeatureCache, image_features: str = "auto") -> Self:
        """Look for the pictures in a folder."""
        if not source.is_dir():
            raise InputError(f"{source} is not a folder of pictures")
        return cls(source, recipe=image_features, cache=cache)

    @property
    def decided(self) -> dict[str, Any]:
        """Which features "auto" means here."""
        return {"image_features": self._recipe}

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
        """Return where picture `i` lies, to be opened from a terminal."""
        return str(self._paths[i])

    def thumbnail(self, i: int, size: int = 512, *, format: str = "webp") -> bytes:
        """Return picture `i`, decoded and encoded again, or a placeholder if it is broken.

        It has at most `size` pixels in each direction and is not enlarged; the format is webp, png
        or jpeg.
        """
        if not 1 <= size <= LARGEST_THUMBNAIL:
            raise InputError(f"a thumbnail has 1 to {LARGEST_THUMBNAIL} pixels, not {size}")
        if not 0 <= i < self.n:
            raise InputError(f"there is no picture {i}, only 0 to {self.n - 1}")
        return self._thumbnail(i, size, format)

    def _encode(self, i: int, size: int, format: str) -> bytes:
        if i in self._broken:
            return encode(placeholder(size), size, format)
        try:
            picture = self._decode(i, size)
        except BrokenPictureError:
            return encode(placeholder(size), size, format)
        return encode(picture, size, format)

    def _decode(self, i: int, at_least: int) -> Image:
        return decode(read_file(self._paths[i], self._folder), at_least)

    def _make_features(self, progress: OnProgress | None) -> Features:
        found = image_features(
            self._hashes, self._decode, self._recipe, self._broken, self._cache, progress
        )
        # The names of the files are not part of what the features are cached under.
        named = (Problem(p.item, f"{self.ids[p.item or 0]}: {p.message}") for p in found.problems)
        return replace(found, problems=tuple(named))


def find_pictures(folder: Path) -> tuple[list[Path], list[Problem], list[str]]:
    """List the pictures below a resolved folder, the files refused, and those skipped."""
    paths: list[Path] = []
    problems: list[Problem] = []
    others: Counter[str] = Counter()
    for path in sorted(files_below(folder), key=lambda path: path.relative_to(folder).parts):
        if path.suffix.lower() not in IMAGE_SUFFIXES:
            others[path.suffix.lower() or "without suffix"] += 1
        elif not path.resolve().is_relative_to(folder):
            name = name_in(path, folder)
            problems.append(Problem(None, f"{name}: a link to outside of the folder, left out"))
        else:
            paths.append(path)
    unread = _listed(others, lambda suffix: suffix in OTHER_SUFFIXES)
    if unread:
        unread = f"pictures that cannot be read were left out: {unread}. Convert them to PNG"
    if not paths:
        series = "For a folder of time series use --series; for a table give its file"
        why = unread or (problems[0].message if problems else series)
        formats = ", ".join(suffix[1:] for suffix in IMAGE_SUFFIXES)
        raise InputError(f"there are no pictures in {folder} that can be read ({formats}). {why}.")
    passed = _listed(others, lambda suffix: suffix not in OTHER_SUFFIXES)
    if passed:
        passed = f"files that are not pictures were left out: {passed}"
    return paths, problems, [note for note in (unread, passed) if note]


def _listed(counts: Counter[str], choose: Callable[[str], bool]) -> str:
    """Return how many files there are of each suffix, in words."""
    return ", ".join(f"{n} {suffix}" for suffix, n in counts.most_common() if choose(suffix))


def _look(path: Path, folder: Path) -> tuple[tuple[int, int], str, str]:
    """Return the size and the hash of a file, and what is wrong with it if anything is."""
    try:
        data = read_file(path, folder)
    except BrokenPictureError as error:
        return (1, 1), "", str(error)
    try:
        return upright_size(open_picture(data)), digest(data), ""
    except BrokenPictureError as error:
        return (1, 1), digest(data), str(error)
