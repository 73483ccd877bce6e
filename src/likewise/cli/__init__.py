"""The command line: one module per command."""

from __future__ import annotations

from importlib import import_module

import click

import likewise
from likewise.errors import LikewiseError
from likewise.words import escaped

COMMANDS = {
    "demo": "Answer questions about pictures on a page, or see a simulated person do it.",
    "label": "Group what is at PATH by answering questions.",
    "update": "Label what is new at PATH, without asking.",
    "agreement": "Show how often people who answered SESSION, a .likewise file, agree.",
    "export": "Write the groups of SESSION, a .likewise file, to a table.",
    "check": "Test SESSION, a .likewise file, for damage.",
    "backup": "Copy SESSION, a .likewise file, to COPY while it may be in use.",
    "data": "Show and fetch the datasets of the paper.",
    "bench": "Run the experiments of the COBRA paper, and see what holds.",
}
"""The line of each command in the help, which is shown without importing its module."""

LAB = ("data", "bench")
"""The commands of the laboratory."""


class LazyGroup(click.Group):
    """A group of commands that imports a command only to run it, and reports errors as messages."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments name, and import it."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            room = "likewise.lab.commands" if command.name in LAB else "likewise.cli"
            command = getattr(import_module(f"{room}.{command.name}"), str(command.name))
        return name, command, rest

    def invoke(self, ctx: click.Context) -> object:
        """Run a command; where the input is at fault, end with a message, not a traceback."""
        try:
            return super().invoke(ctx)
        except LikewiseError as error:
            raise click.ClickException(escaped(str(error), in_lines=True)) from error
        except BrokenPipeError:
            raise
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            remedy = ". Choose a place that can be read and written." if error.filename else ""
            why = escaped(f"{where}{error.strerror or error}{remedy}", in_lines=True)
            raise click.ClickException(why) from error


@click.group(
    cls=LazyGroup,
    commands={name: click.Command(name, help=line) for name, line in COMMANDS.items()},
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(likewise.__version__, prog_name="likewise")
def main() -> None:
    """Group things the way you mean it, by answering a few questions."""
