"""Exports for other programs: folders of pictures, sidecars, tasks and labels.

Most of these are several files. `write_folder` puts them into a folder, where it never replaces
anything; `zipped` makes one file of them, for a download.
"""

from __future__ import annotations

import errno
import io
import json
import math
import os
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from likewise.errors import InputError, WriteError
from likewise.files import open_regular, remedy
from likewise.items.limits import check_fits
from likewise.project.formats import CSV, Format, Row, as_csv, rows_of
from likewise.project.groups import group_names, titles_of
from likewise.project.project import Project
from likewise.words import plural

Links = Literal["hard", "symbolic", "copies"]
LINKS: tuple[Links, ...] = ("hard", "symbolic", "copies")

ZIP = "application/zip"
UNGROUPED = "not grouped"
"""The folder of what nothing is known about yet."""
LONGEST = 80
"""A longer name of a folder is cut; systems take 255 bytes, and paths have several."""
UNSAFE = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]')
"""Characters that some system does not allow in names of files."""
RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
"""Names that Windows reserves for devices."""
NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

NAMESPACE = "https://likewise-clustering.github.io/likewise/ns/1.0/"
"""The XML namespace of our own entries in a sidecar."""
DECODED_ANYWHERE = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".pgm", ".ppm")
"""Other pictures are handed over as PNG, drawn as large as this:"""
SIDE = 1024


@dataclass(frozen=True)
class Part:
    """A file of an export: its path in the folder, what reads it, and the file that it copies."""

    path: str
    read: Callable[[], bytes]
    source: Path | None = None


# -- names -------------------------------------------------------------------------------------


def safe_names(names: Sequence[str]) -> list[str]:
    """Return names of files that every system takes, no two equal in upper or lower case.

    >>> safe_names(["cats/dogs", "..", "CON", "Cats", "cats", ""])
    ['cats_dogs', '_', '_CON', 'Cats', 'cats (2)', '_ (2)']
    """
    return _numbered((_safe_name(name), "") for name in names)


def _safe_name(name: str) -> str:
    """Return a name that every system takes for a file."""
    safe = UNSAFE.sub("_", name).strip(" .")[:LONGEST].rstrip(" .") or "_"
    return f"_{safe}" if RESERVED.fullmatch(safe) else safe


def _numbered(parts: Iterable[tuple[str, str]]) -> list[str]:
    """Return names from stems and suffixes; a name that is taken gets a number behind its stem."""
    taken: set[str] = set()
    found = []
    for stem, suffix in parts:
        name, k = stem + suffix, 1
        while name.casefold() in taken:
            k += 1
            name = f"{stem} ({k}){suffix}"
        taken.add(name.casefold())
        found.append(name)
    return found


def _titles(project: Project) -> dict[int, str]:
    """Return what people call the group of each label: its name, or its key."""
    names = group_names(project.session)
    return {
        label: names[label] or (f"group {title}" if not title.startswith("open ") else UNGROUPED)
        for label, title in titles_of(project.session).items()
    }


def _file_names(ids: Sequence[str]) -> list[str]:
    """Return the last part of each id, safe and different, with its suffix in place."""
    paths = (PurePosixPath(_safe_name(PurePosixPath(id).name)) for id in ids)
    return _numbered((path.stem, path.suffix) for path in paths)


# -- pictures ----------------------------------------------------------------------------------


def _pictures(project: Project) -> list[tuple[Row, Path]]:
    """Return all items that are files, each with its file."""
    rows = [(row, row.place) for row in rows_of(project) if row.place is not None]
    files = [(row, project.items.file(place)) for row, place in rows]
    found = [(row, file) for row, file in files if file is not None]
    if not found:
        raise InputError(
            f"this is for pictures in a folder; {project.items.source} has {project.items.kind}. "
            "Export a table, such as .csv"
        )
    return found


def _unshown(project: Project) -> set[str]:
    """Return the ids of items that cannot be shown, such as broken pictures, copies too."""
    return {
        name for row in project.unshown for name in (project.ids[row], *project.copies.get(row, ()))
    }


def _whole(file: Path) -> Callable[[], bytes]:
    def read() -> bytes:
        with open_regular(file) as opened:
            return opened.read()

    return read


def folders(project: Project) -> Iterator[Part]:
    """Yield the pictures in a folder for each group; those that cannot be shown have their own."""
    found, titles, unshown = _pictures(project), _titles(project), _unshown(project)

    def title_of(row: Row) -> str:
        is_unknown = row.how == "open" and row.id in unshown
        return UNGROUPED if is_unknown else titles[row.label]

    words = list(dict.fromkeys(title_of(row) for row, _ in found))
    folder = dict(zip(words, safe_names(words), strict=True))
    for word in words:
        inside = [(row, file) for row, file in found if title_of(row) == word]
        names = _file_names([row.id for row, _ in inside])
        for (_, file), name in zip(inside, names, strict=True):
            yield Part(f"{folder[word]}/{name}", _whole(file), file)


def imagefolder(project: Project) -> Iterator[Part]:
    """Yield the pictures as the ``imagefolder`` of Hugging Face's datasets, with their metadata."""
    titles, unshown = _titles(project), _unshown(project)
    # What we cannot show, the reader cannot either, and it would stop there.
    found = [(row, file) for row, file in _pictures(project) if row.id not in unshown]
    # Names of folders such as "test" would be taken for splits, so all pictures are in one.
    numbered = [f"{k:06d}-{PurePosixPath(row.id).name}" for k, (row, _) in enumerate(found)]
    lines = []
    for (row, file), stem in zip(found, _file_names(numbered), strict=True):
        if file.suffix.lower() in DECODED_ANYWHERE:
            part = Part(f"train/{stem}", _whole(file), file)
        else:
            part = Part(f"train/{stem}.png", _drawn(project, row.place or 0))
        certainty = None if math.isnan(row.certainty) else round(row.certainty, 3)
        about = {"file_name": PurePosixPath(part.path).name, "id": row.id}
        about |= {"group": titles[row.label], "how": row.how}
        lines.append(json.dumps({**about, "certainty": certainty}, ensure_ascii=False))
        yield part
    data = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
    yield Part("train/metadata.jsonl", partial(bytes, data))


def _drawn(project: Project, place: int) -> Callable[[], bytes]:
    return lambda: project.items.thumbnail(place, SIDE, format="png")


def sidecars(project: Project) -> Iterator[Part]:
    """Yield an XMP sidecar for each picture whose group is said or learned, named after it."""
    found, titles = _pictures(project), _titles(project)
    for row, _ in found:
        if row.how != "open":
            data = sidecar(titles[row.label], row.how, row.certainty).encode()
            yield Part(f"{row.id}.xmp", partial(bytes, data))


def sidecar(group: str, how: str, certainty: float) -> str:
    """Return a sidecar: the group as a keyword, and below *said* or *learned* as a nested one."""
    group = NO_XML.sub("\ufffd", group)
    # A bar begins a level of nested keywords.
    nested = f"likewise|{how}|{group.replace('|', '/')}"
    tag = nested.replace("/", "_").replace("|", "/")
    sure = "" if math.isnan(certainty) else f' likewise:certainty="{certainty:.3f}"'
    return f"""\
<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about=""
    xmlns:dc="http://purl.org/dc/elements/1.1/"
    xmlns:lr="http://ns.adobe.com/lightroom/1.0/"
    xmlns:digiKam="http://www.digikam.org/ns/1.0/"
    xmlns:likewise="{NAMESPACE}"
    likewise:group={quoteattr(group)} likewise:how="{how}"{sure}>
   <dc:subject><rdf:Bag><rdf:li>{escape(group)}</rdf:li></rdf:Bag></dc:subject>
   <lr:hierarchicalSubject>
    <rdf:Bag><rdf:li>{escape(nested)}</rdf:li></rdf:Bag>
   </lr:hierarchicalSubject>
   <digiKam:TagsList><rdf:Seq><rdf:li>{escape(tag)}</rdf:li></rdf:Seq></digiKam:TagsList>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
<?xpacket end="w"?>
"""


# -- labels ------------------------------------------------------------------------------------


def to_splink(project: Project) -> bytes:
    """Return the pairs that people judged, as clerical labels of Splink.

    They are what was said, not what follows: 1 for the same, 0 for different.
    """
    columns = project.items.columns()
    whole = project.items.source.stem
    sources = columns.get("source_dataset")

    def side(row: int) -> tuple[str, Any]:
        name, place = project.ids[row], project.where[row]
        source = whole if sources is None or place is None else str(sources[place])
        return source, int(name) if are_numbers else name

    with project.lock:
        are_numbers = all(re.fullmatch(r"0|[1-9]\d{0,17}", name) for name in project.ids)
        scores = {
            link.pair: float(link.answer.value == "same")
            for gesture in project.session.events
            for link in gesture.links
            if link.answer.is_link
        }
        judged = [(sorted(map(side, pair)), score) for pair, score in scores.items()]
    pairs = [(left, right, score) for (left, right), score in judged]
    return as_csv(
        {
            "source_dataset_l": [left[0] for left, _, _ in pairs],
            "unique_id_l": [left[1] for left, _, _ in pairs],
            "source_dataset_r": [right[0] for _, right, _ in pairs],
            "unique_id_r": [right[1] for _, right, _ in pairs],
            "clerical_match_score": [score for _, _, score in pairs],
        }
    )


def label_studio(project: Project) -> Iterator[Part]:
    """Yield tasks of Label Studio and the labels that they have.

    What was said is an annotation, what was learned a prediction with its certainty.
    """
    titles, source = _titles(project), project.items.source
    tasks, shown = [], ""
    for row in rows_of(project):
        if row.place is None:
            continue
        shown, data = _shown(project, row, source)
        tasks.append({"data": {"id": row.id, **data}, **_label(row, titles[row.label])})
    choices = {titles[row.label] for row in rows_of(project) if row.how != "open"}
    values = "".join(f"\n    <Choice value={quoteattr(one)}/>" for one in sorted(choices))
    tags = {"image": "Image", "text": "Text", "row": "Table"}
    config = (
        f'<View>\n  <{tags[shown or "row"]} name="item" value="${shown}"/>\n'
        f'  <Choices name="group" toName="item" choice="single">{values}\n  </Choices>\n</View>\n'
    )
    listed = json.dumps(tasks, ensure_ascii=False, indent=1, default=str).encode("utf-8", "replace")
    labels = NO_XML.sub("\ufffd", config).encode()
    yield Part("tasks.json", partial(bytes, listed))
    yield Part("labels.xml", partial(bytes, labels))


def _shown(project: Project, row: Row, source: Path) -> tuple[str, dict[str, Any]]:
    """Return what Label Studio shows of an item, and the data of its task."""
    assert row.place is not None
    if project.items.file(row.place) is not None:
        return "image", {"image": f"/data/local-files/?d={quote(f'{source.name}/{row.id}')}"}
    view = project.items.view(row.place)
    if "text" in view:
        return "text", {"text": view["text"]}
    if "fields" in view:
        return "row", {"row": dict(view["fields"])}
    return "text", {"text": project.items.title(row.place)}


def _label(row: Row, title: str) -> dict[str, Any]:
    choice = {
        "from_name": "group",
        "to_name": "item",
        "type": "choices",
        "value": {"choices": [title]},
    }
    if row.how == "open":
        return {}
    if row.how == "said":
        return {"annotations": [{"result": [choice]}]}
    score = {} if math.isnan(row.certainty) else {"score": round(row.certainty, 3)}
    return {"predictions": [{"model_version": "likewise", **score, "result": [choice]}]}


# -- a folder or one file ------------------------------------------------------------------------


def zipped(parts: Callable[[Project], Iterable[Part]]) -> Callable[[Project], bytes]:
    """Return what writes the parts of an export as one ZIP file."""

    def write(project: Project) -> bytes:
        listed = list(parts(project))
        size = sum(part.source.stat().st_size for part in listed if part.source is not None)
        check_fits(project.items.source, 2 * size)
        file = io.BytesIO()
        # Pictures are compressed already.
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for part in listed:
                # The date is always the same, so that the same groups give the same bytes.
                archive.writestr(zipfile.ZipInfo(part.path), part.read())
        return file.getvalue()

    return write


def write_folder(parts: Iterable[Part], folder: Path, links: Links = "hard") -> int:
    """Write parts into a folder and return how many; nothing is replaced, nothing is outside.

    Files are hard links to the originals, symbolic links or copies; where a system has no hard
    links, copies. If something fails, what was written is removed, or the error names it.
    """
    listed = list(parts)
    places = [folder / part.path for part in listed]
    root = folder.resolve()
    for place in places:
        if not place.parent.resolve().is_relative_to(root) or ".." in place.parts:
            raise InputError(
                f"{place} would lie outside of {folder}, because a link leads there. Choose a new "
                "folder"
            )
    existing = [place for place in places if os.path.lexists(place)]
    if existing:
        also = f" (and {plural(len(existing) - 1, 'other')})" if existing[1:] else ""
        raise InputError(
            f"{existing[0]} exists already{also}, and nothing is replaced. Choose a new folder, or "
            "remove what an earlier export has left"
        )
    made: list[Path] = []
    try:
        for part, place in zip(listed, places, strict=True):
            _make_folder(place.parent, made)
            _put(part, place, links, made)
    except OSError as error:
        left = _take_back(made)
        state = f"Nothing was changed; {remedy(error)} and try again."
        if left:
            state = f"{left[0]} was written before, and could not be removed: remove it."
        raise WriteError(
            f"{error.filename or folder} cannot be written: {error.strerror or error}. {state}"
        ) from error
    except BaseException:
        _take_back(made)
        raise
    return len(listed)


def _make_folder(folder: Path, made: list[Path]) -> None:
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir()
        made.append(one)


def _put(part: Part, place: Path, links: Links, made: list[Path]) -> None:
    if part.source is not None and links != "copies":
        try:
            if links == "symbolic":
                place.symlink_to(part.source.resolve())
            else:
                os.link(part.source, place)
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.EMLINK):
                raise
        else:
            made.append(place)
            return
    with place.open("xb") as file:  # refuses a file that has come meanwhile
        made.append(place)
        if part.source is None:
            file.write(part.read())
        else:
            with open_regular(part.source) as source:
                shutil.copyfileobj(source, file)


def _take_back(made: Sequence[Path]) -> list[Path]:
    """Remove files and folders; return those that are still there, the outermost first."""
    for one in reversed(made):
        with suppress(OSError):
            one.rmdir() if one.is_dir() and not one.is_symlink() else one.unlink()
    return [one for one in made if os.path.lexists(one)]


FOLDERS = Format(
    "Pictures in a folder for each group (ZIP)", ZIP, "folders.zip", zipped(folders), parts=folders
)
XMP = Format(
    "Sidecars for photo programs (XMP, ZIP)", ZIP, "xmp.zip", zipped(sidecars), parts=sidecars
)
IMAGEFOLDER = Format(
    "Hugging Face imagefolder (ZIP)", ZIP, "imagefolder.zip", zipped(imagefolder), parts=imagefolder
)
LABEL_STUDIO = Format(
    "Label Studio (ZIP)", ZIP, "label-studio.zip", zipped(label_studio), parts=label_studio
)
SPLINK = Format("Splink's clerical labels (CSV)", CSV, "splink.csv", to_splink)
