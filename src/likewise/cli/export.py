"""`likewise export`: the groups of a session as a file."""

from __future__ import annotations

import sys
from contextlib import closing, suppress
from pathlib import Path

import click

from likewise.cli.bar import bar
from likewise.cli.lines import say
from likewise.errors import InputError, LikewiseError
from likewise.files import open_regular, whole_file
from likewise.project import FORMATS, open_session_file
from likewise.project.formats import format_of, written
from likewise.project.growing import JOINED
from likewise.project.handover import LINKS, Links, Part, write_folder
from likewise.project.large import export_folder
from likewise.project.paths import SUFFIX
from likewise.project.project import Project
from likewise.store import Store
from likewise.store.beside import START
from likewise.store.schema import refuse_header
from likewise.words import plural

LISTS = ("csv", "xlsx", "parquet", "jsonl")
"""The formats of tables with one row per item."""


@click.command()
@click.argument("session", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(),
    metavar="FILE",
    help="Where to write; the suffix gives the format. A folder for data that is read in batches.",
)
@click.option(
    "--format",
    metavar="NAME",
    help="The format, where the suffix does not say it: folders, xmp, imagefolder, label-studio, "
    "splink, names-csv, changes-html, changes-csv, changes-groups-csv or changes-json.",
)
@click.option(
    "--links",
    type=click.Choice(LINKS),
    default="hard",
    help="With --format folders or imagefolder: what is in the folder. hard (the default) and "
    "symbolic links take no space, copies do.",
)
@click.option(
    "--only-new",
    is_flag=True,
    help="Only items that were new or changed when likewise label or update last took some in.",
)
@click.option("--overwrite", is_flag=True, help="Replace labels that are in the folder already.")
@click.option(
    "--cluster", metavar="ADDRESS", help="A Dask scheduler, to write on its workers to a folder."
)
@click.option(
    "--strategy",
    metavar="NAME",
    help="If it is one of your own, package.module:Class as for label.",
)
@click.option(
    "--kind", metavar="NAME", help="If it is one of your own, package.module:Class as for label."
)
def export(
    session: str,
    output: str,
    *,
    format: str | None,
    links: Links,
    only_new: bool,
    overwrite: bool,
    cluster: str | None,
    strategy: str | None,
    kind: str | None,
) -> None:
    """Write the groups of SESSION, a .likewise file, to a table.

    .csv, .xlsx, .parquet and .jsonl have one row per item with its group; .json is the session
    itself for `likewise.Session.from_dict`, .py a script that loads it. For data that is read in
    batches (many Parquet files, or more than fits in memory) FILE is a folder; it gets one Parquet
    file with groups for every file of the input. The formats changes-... say what became of groups
    that a session began from. The formats folders, xmp, imagefolder and label-studio are several
    files: FILE is a folder, in which nothing is replaced, or ends in .zip.
    """
    path = Path(output)
    suffix = path.suffix.removeprefix(".").lower()
    if only_new and (format or suffix) not in LISTS:
        suffixes = ", ".join(f".{name}" for name in LISTS)
        raise InputError(f"--only-new is for {suffixes}, which have one row per item")
    with Store.open(session) as store:
        if only_new and not store.settings.get(JOINED):
            raise InputError(
                f"nothing joined {session} since it was begun. likewise update PATH takes in what "
                "is new, unless a sample of many items is asked about."
            )
        if "paths" in store.settings:
            if format is not None:
                raise InputError("--format is not for data that is read in batches")
            n_rows = store.settings.get("n_rows", 0)
            _write_folder(session, n_rows, path, overwrite, cluster)
            return
    if cluster is not None:
        raise InputError(f"--cluster is for data that is read in batches; {session} is in memory")
    if format is None and suffix not in FORMATS:
        suffixes = ", ".join(f".{name}" for name in FORMATS.names if "-" not in name)
        raise InputError(f"{path} must end in one of {suffixes}, or --format must be given")
    writer = format_of(format or suffix)
    with closing(open_session_file(session, strategy=strategy, kind=kind).project) as project:
        if writer.parts is not None and suffix != "zip":
            _write_parts(list(writer.parts(project)), path, project, links)
            return
        _refuse_inputs(path, project, Path(writer.file_name).suffix)
        project.lists_only_new = only_new
        if project.rest is not None:
            say(f"{project.rest.line.partition(' so far')[0]} so far", err=True)
            with bar() as progress:
                project.rest.finish(progress)
        data = written(project, writer)
    with whole_file(path) as file:
        file.write(data)
    is_sample = project.session.row_numbers is not None
    n_items = len(project.items if is_sample else project.listed())
    n_groups = project.session.progress.n_groups
    say(f"{path}: {plural(n_items, 'item')} in {plural(n_groups, 'group')}")


def _refuse_inputs(path: Path, project: Project, suffix: str) -> None:
    """Refuse to write the groups over a session, or over a file that the items come from."""
    settings = project.store.settings
    options = settings.get("options", {})
    inputs = (project.path, settings.get("path"), options.get("items"), options.get("features"))
    what = ""
    if path.exists() and any(path.samefile(one) for one in inputs if one and Path(one).exists()):
        what = "the session" if path.suffix == SUFFIX else "the file that the items come from"
    elif _is_item(path, project):
        what = "one of the items"
    elif _is_session(path):
        what = "another session"
    if what:
        raise InputError(
            f"{path} is {what}, and would be replaced. Choose another name, such as "
            f"{path.with_name(f'{path.stem}-groups{suffix}')}."
        )


def _is_item(path: Path, project: Project) -> bool:
    """Whether a file is one of the items of a folder."""
    folder, place = project.items.source.resolve(), path.resolve()
    if not (folder.is_dir() and place.exists() and place.is_relative_to(folder)):
        return False
    return place.relative_to(folder).as_posix() in project.ids


def _is_session(path: Path) -> bool:
    """Whether a file, which this process does not have open, begins as session files do."""
    with suppress(LikewiseError), open_regular(path) as file:
        if (header := file.read(100)).startswith(START):
            refuse_header(header)
            return True
    return False


def _write_parts(parts: list[Part], folder: Path, project: Project, links: Links) -> None:
    """Write an export of several files to a folder."""
    source = project.items.source.resolve()
    has_pictures = any(part.source is not None for part in parts)
    if has_pictures and source.is_dir() and folder.resolve().is_relative_to(source):
        raise InputError(
            f"{folder} is inside of {source}, where the next likewise update would take the "
            "pictures for new ones. Choose a folder elsewhere."
        )
    n = write_folder(parts, folder, links)
    say(f"{folder}: {plural(n, 'file')}")


def _write_folder(
    session: str, n_rows: int, folder: Path, overwrite: bool, cluster: str | None
) -> None:
    if folder.suffix.removeprefix(".").lower() in FORMATS:
        raise InputError(
            f"the groups of this many rows are written to a folder, not to {folder.name}: "
            "likewise export SESSION -o labels/"
        )
    with (
        closing(open_session_file(session).project) as project,
        click.progressbar(length=100, label="groups of all rows", file=sys.stderr) as bar,
    ):

        def progress(n_done: int) -> None:
            if n_rows:
                bar.update(100 * n_done // n_rows - bar.pos)

        n = export_folder(project, folder, cluster=cluster, overwrite=overwrite, progress=progress)
    say(f"{folder}: {plural(n, 'group')}")
