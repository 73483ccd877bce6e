"""The command line: one module per command, gathered here."""

from __future__ import annotations

import click

import likewise
from likewise.cli.bench import bench
from likewise.cli.data import data
from likewise.cli.demo import demo
from likewise.cli.export import export
from likewise.cli.label import label
from likewise.errors import LikewiseError


class _FriendlyGroup(click.Group):
    """A group whose commands end with a message, not a traceback, when the input is at fault."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except LikewiseError as error:
            raise click.ClickException(str(error)) from error
        except BrokenPipeError:
            raise
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            raise click.ClickException(f"{where}{error.strerror or error}") from error


@click.group(cls=_FriendlyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(likewise.__version__, prog_name="likewise")
def main() -> None:
    """Group things the way you mean it, by answering a few questions."""


main.add_command(data)
main.add_command(demo)
main.add_command(label)
main.add_command(export)
main.add_command(bench)
