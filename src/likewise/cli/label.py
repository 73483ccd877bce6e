"""`likewise label`: from a folder or a table to groups, on a page or in the terminal."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from likewise.cli.bar import bar, both
from likewise.cli.inline import WAYS, choose_way
from likewise.cli.lines import for_terminal, say
from likewise.cli.served import ServedPage
from likewise.core.answers import RULE
from likewise.items.pairs import AUTO
from likewise.project import Opened, Project, add_known, open_project
from likewise.project.beginning import QUESTIONS
from likewise.project.formats import file_name_of
from likewise.project.large import is_large
from likewise.project.people import EVERY, Person, checked_people
from likewise.project.rest import in_background
from likewise.words import plural

if TYPE_CHECKING:
    from likewise.project.model import ModelAtWork

OLLAMA = "http://localhost:11434/v1"
"""Where a model is looked for by default."""
BEGIN = (
    "session", "strategy", "questions", "n_super_instances", "seed", "groups", "group_names",
    "instruction",
)  # fmt: skip
"""The options about a session; those that `label` does not name are about the items."""

encoder_option = click.option(
    "--encoder",
    multiple=True,
    metavar="NAME",
    callback=lambda _context, _option, names: names[0] if len(names) == 1 else list(names) or None,
    help="What turns pictures or texts into values: layout or words (no network), a network such "
    "as efficientnet-lite0, minilm or use-multilingual, an ONNX file, or a model of fastembed. "
    "Given several times, each is an aspect, and the answers decide which counts.",
)
session_option = click.option(
    "--session",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Where the session is kept; beside PATH, with .likewise added, by default.",
)


def _names(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Any:
    if value is None:
        return None
    names = [name.strip() for name in value.split(",") if name.strip()]
    if not names:
        raise click.BadParameter("name at least one column, such as age,city")
    return names


def _people(_context: click.Context, _parameter: click.Parameter, value: str) -> list[str]:
    return [name.strip() for name in value.split(",") if name.strip()]


def _group_names(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Any:
    if value is None:
        return None
    names = [name.strip() for name in value.split(",") if name.strip()]
    if not names:
        raise click.BadParameter("name at least one group, such as cats,dogs")
    return names


def _pair_columns(context: click.Context, parameter: click.Parameter, value: str | None) -> Any:
    return value if value == AUTO else _names(context, parameter, value)


@click.command()
@click.argument("paths", type=click.Path(exists=True), nargs=-1, required=True, metavar="PATH...")
@click.option("--kind", metavar="NAME", help="What is at PATH. By default this is recognized.")
@click.option("--text", metavar="COLUMN", help="Texts to compare, in this column of a table.")
@click.option("--names", metavar="COLUMN", help="Names to clean, in this column of a table.")
@click.option("--id", metavar="COLUMN", help="The column of a table that names its rows.")
@click.option(
    "--columns",
    metavar="A,B:TYPE,...",
    callback=_names,
    help="Columns to compare rows by. Where all have a type (number, category, date, text or "
    "ignore), such as zip:category,code:ignore, the others are compared as well.",
)
@click.option("--show", metavar="A,B,C", callback=_names, help="Columns to show.")
@click.option("--series", is_flag=True, default=None, help="These are time series.")
@click.option(
    "--features",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Your own features, .npy, .npz or a table of numbers.",
)
@click.option(
    "--items",
    type=click.Path(exists=True),
    metavar="PATH",
    help="What to show, if PATH is a file of features or of pairs.",
)
@click.option(
    "--pairs",
    metavar="[LEFT,RIGHT,SCORE]",
    is_flag=False,
    flag_value=AUTO,
    callback=_pair_columns,
    help="PATH has candidate pairs of --items: two ids and how alike they are. Columns of Splink "
    "and dedupe need no names.",
)
@click.option(
    "--same-above",
    type=float,
    metavar="SCORE",
    help="With --pairs or --names: join what is more alike than this, without a question.",
)
@click.option(
    "--different-below",
    type=float,
    metavar="SCORE",
    help="With --pairs or --names: never ask about what is less alike than this.",
)
@encoder_option
@click.option(
    "--series-features", type=click.Choice(["euclidean", "dtw"]), help="How to compare series."
)
@click.option("--encoding", metavar="NAME", help="Encoding of a CSV or JSON file.")
@click.option("--delimiter", metavar="CHARACTER", help="What separates the fields of a CSV file.")
@click.option(
    "--header/--no-header",
    default=None,
    help="Whether the first line of a CSV file names the columns. By default this is detected.",
)
@click.option(
    "--sheet",
    metavar="NAME",
    help="Which sheet of a spreadsheet. The default is the first with more than a title.",
)
@click.option(
    "--super-instances",
    "n_super_instances",
    type=click.IntRange(min=1),
    metavar="N",
    help="Ask as COBRA does, about this many small groups. The default is to ask as Likewise does.",
)
@click.option(
    "--questions",
    type=click.Choice(list(QUESTIONS)),
    help="Ask to which group an item belongs (choices, the default), or whether two items belong "
    "together (pairs).",
)
@click.option(
    "--strategy",
    metavar="NAME",
    help="What asks: the name of a strategy, or package.module:Class for one of your own.",
)
@click.option("--seed", type=int, metavar="N", help="A different number gives different questions.")
@click.option(
    "--instruction",
    metavar="TEXT",
    help='What belongs together, such as "the same person?". It stands above every question.',
)
@click.option(
    "--known",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="What you know already: a table of id and group, or of left, right and answer.",
)
@click.option(
    "--groups",
    metavar="GROUPS",
    help="Existing groups to be mended: a column of the table, a table of id and group, or the "
    "word folders.",
)
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="HOW:COLUMN",
    help="What a column of the table says without a person: same:email (equal values are the "
    "same), different:birthday (other values are different) or digits:title (other numbers in it "
    "are different). It can be given several times. Your answers overrule it.",
)
@click.option("--model", metavar="NAME", help="A language model that answers, too. You check it.")
@click.option(
    "--base-url",
    metavar="URL",
    help="With --model: the server, with /v1/chat/completions. By default Ollama on this machine.",
)
@click.option(
    "--key-from",
    metavar="VARIABLE",
    default="LIKEWISE_MODEL_KEY",
    show_default=True,
    help="With --model: the environment variable that has the key of the server.",
)
@click.option(
    "--max-calls",
    type=click.IntRange(min=0),
    metavar="N",
    help="With --model: the most requests to make.",
)
@click.option(
    "--max-tokens",
    type=click.IntRange(min=0),
    metavar="N",
    help="With --model: the most tokens to use.",
)
@click.option(
    "--max-cost",
    type=click.FloatRange(min=0),
    metavar="X",
    help="With --model and --price: the most to spend, in the currency of the price.",
)
@click.option(
    "--price",
    type=click.FloatRange(min=0),
    nargs=2,
    metavar="SENT RECEIVED",
    help="With --model: what a million tokens cost, those sent and those received.",
)
@click.option(
    "--max-reply",
    type=click.IntRange(min=1),
    default=400,
    show_default=True,
    metavar="N",
    help="With --model: the most tokens of a reply per question. Models that think aloud need "
    "more.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=120,
    show_default=True,
    metavar="SECONDS",
    help="With --model: how long a reply may take before the server is asked again.",
)
@click.option(
    "--max-answers",
    type=click.IntRange(min=1),
    default=400,
    show_default=True,
    metavar="N",
    help="With --model: how many questions it is asked.",
)
@click.option(
    "--at-once",
    type=click.IntRange(min=1, max=64),
    default=8,
    show_default=True,
    metavar="N",
    help="With --model: how many questions it is asked at the same time.",
)
@click.option("--dry-run", is_flag=True, help="With --model: say what to expect, and ask nothing.")
@click.option(
    "--group-names",
    metavar="A,B,C",
    callback=_group_names,
    help="Names of groups that are known beforehand. Every question offers them.",
)
@session_option
@click.option("--terminal", is_flag=True, help="Ask here and not on a page.")
@click.option(
    "--pictures",
    type=click.Choice(WAYS),
    default="auto",
    help="With --terminal: how to show pictures. none shows only their paths.",
)
@click.option("--no-browser", is_flag=True, help="Do not open the page, only print its address.")
@click.option(
    "--keep-link",
    is_flag=True,
    envvar="LIKEWISE_KEEP_LINK",
    help="Use the same address at every start, so that bookmarks and open tabs keep working.",
)
@click.option(
    "--new-link", is_flag=True, help="Revoke the address that --keep-link kept, and its cookies."
)
@click.option(
    "--people",
    metavar="NAME,NAME",
    callback=_people,
    default="",
    help="Who answers at the same time. Each gets a link and other questions, and signs answers.",
)
@click.option(
    "--readers",
    metavar="NAME,NAME",
    callback=_people,
    default="",
    help="Who gets a link for looking only.",
)
@click.option(
    "--double",
    type=click.IntRange(min=0),
    default=EVERY,
    show_default=True,
    metavar="N",
    help="With --people: put one in N questions to two of them; 0 for none.",
)
@click.option(
    "--certfile",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Serve the page by HTTPS, with this certificate (PEM).",
)
@click.option(
    "--keyfile",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="The key of --certfile, if that has none in it.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Where the page listens. Others can reach it only if you change this.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="N",
    help="The page's port, 0 for any free one. By default 8642, or a free one.",
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="Another host name under which the page may be reached.",
)
def label(
    paths: tuple[str, ...],
    *,
    known: str | None,
    terminal: bool,
    pictures: str,
    no_browser: bool,
    keep_link: bool,
    new_link: bool,
    host: str,
    port: int | None,
    allow_host: tuple[str, ...],
    people: list[str],
    readers: list[str],
    double: int,
    rules: tuple[str, ...],
    certfile: str | None,
    keyfile: str | None,
    model: str | None,
    base_url: str | None,
    key_from: str,
    max_calls: int | None,
    max_tokens: int | None,
    max_cost: float | None,
    price: tuple[float, float] | None,
    max_reply: int,
    timeout: float,
    max_answers: int,
    at_once: int,
    dry_run: bool,
    **options: Any,
) -> None:
    """Group what is at PATH by answering questions.

    PATH is a folder of pictures, a table (CSV, JSON lines, a spreadsheet or Parquet), or an .npy or
    .npz file of features. Of more than 20 000 items a random sample is asked about, and `likewise
    export` predicts the groups of the others. Of several Parquet files, and of files that do not
    fit in memory, only the sample is read; their groups are written to a folder. Every answer is
    saved at once. To go on where you stopped, run the same command again.
    """
    _refuse_together(
        {
            "--pictures is for --terminal; a page always shows them": (
                pictures != "auto" and not terminal
            ),
            "--dry-run, --base-url, --max-calls, --max-tokens, --max-cost and --price are for "
            "--model": (
                model is None
                and (dry_run or {base_url, max_calls, max_tokens, max_cost, price} != {None})
            ),
            "--max-cost needs --price, such as --price 0.5 2 for what a million tokens cost": (
                max_cost is not None and price is None
            ),
            "--model answers while you use the page: leave out --terminal": (
                model is not None and terminal
            ),
            "--known is not for files that are read in batches": (
                known is not None and is_large(paths, options)
            ),
            "--people, --readers, --certfile, --allow-host and --port are for the page, not for "
            "--terminal": (
                terminal and (bool(people or readers or certfile or allow_host) or port is not None)
            ),
            "--keyfile is the key of --certfile, which is missing": (
                keyfile is not None and certfile is None
            ),
        }
    )
    checked_people([*people, *readers], "--people and --readers")
    begin = {name: options.pop(name) for name in BEGIN}
    links: dict[str, Any] = {"keeps_link": keep_link, "has_new_link": new_link}
    links["people"] = [*map(Person, people), *(Person(name, can_answer=False) for name in readers)]
    links["certificate"] = None if certfile is None else (certfile, keyfile)
    with ServedPage(paths[0], host, port, allow_host, opens=not no_browser, **links) as page:
        with bar() as shown:
            begin["progress"] = shown
            if not (terminal or dry_run):
                begin |= {"checked": page.start, "progress": both(shown, page.progress)}
            opened = open_project(paths, **begin, options=options, say=_say)
        try:
            verb = "begun" if opened.is_new else f"goes on: {opened.project.session.progress}"
            _say(f"session {opened.path} {verb}")
            of = opened.project.n_of_all
            if of is not None and not opened.is_new:
                _say(f"a sample of {plural(of, opened.project.items.noun)} is asked about")
            if known is not None:
                n = add_known(opened.project, known)
                _say(f"{known}: {plural(n, 'new link')}")
            if rules and not dry_run:
                _follow_rules(opened.project, rules)
            if people:
                opened.project.gather(people, every=double)
            asked: dict[str, Any] = {"base_url": base_url or OLLAMA, "key_from": key_from}
            asked |= {"max_calls": max_calls, "max_tokens": max_tokens, "max_reply": max_reply}
            asked |= {"max_cost": max_cost, "price": price, "timeout": timeout}
            work = _model_for(opened, model, max_answers, at_once, asked)
            with in_background(opened.project), _working(None if dry_run else work):
                if dry_run and work is not None:
                    _say_expected(work, max_answers)
                elif terminal:
                    _ask_here(opened.project, pictures)
                else:
                    page.show(opened.project)
        finally:
            _close(opened)


def _refuse_together(cases: dict[str, bool]) -> None:
    """Raise the error of the first case that applies."""
    for why, is_there in cases.items():
        if is_there:
            raise click.UsageError(why)


def _follow_rules(project: Project, rules: tuple[str, ...]) -> None:
    """Let rules answer before anybody is asked."""
    from likewise.project.rules import Rules

    project.rules = Rules(project, rules)
    project.ask()
    for rule in rules:
        n = project.session.answerers.get(f"{RULE}{rule}", 0)
        _say(f"rule {rule}: {plural(n, 'answer')} so far")


def _say(text: str) -> None:
    """Say something beside the output; in a terminal no word is broken at its edge."""
    if sys.stderr.isatty():
        text = for_terminal(text, shutil.get_terminal_size((80, 24)).columns)
    say(text, err=True)


def _ask_here(project: Project, pictures: str) -> None:
    from likewise.cli.terminal import run_terminal

    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    has_pictures = project.items.has_pictures
    way = choose_way(pictures, os.environ, is_terminal and has_pictures)
    if has_pictures and way is None:
        _say(
            "To see the pictures, leave out --terminal: a page opens. In some terminals they are "
            'shown after pip install "likewise[terminal]".'
        )
    run_terminal(project, way=way)


def _model_for(
    opened: Opened, model: str | None, most: int, at_once: int, options: dict[str, Any]
) -> ModelAtWork | None:
    """Return a model that is ready to work on a project, if one was named."""
    if model is None:
        return None
    from likewise.oracles import ChatOracle
    from likewise.project.model import ModelAtWork, shown_to_models

    project = opened.project
    if not project.instruction:
        raise click.UsageError(
            'a model must know what belongs together: --instruction "the same product?"'
        )
    oracle = ChatOracle(
        model,
        instruction=project.instruction,
        items=shown_to_models(project),
        cache=opened.path.with_name(f"{opened.path.name}.replies.json"),
        **options,
    )
    project.model = ModelAtWork(project, oracle, n_at_once=at_once, most=most)
    return project.model


@contextmanager
def _working(work: ModelAtWork | None) -> Iterator[None]:
    """Let a model work while the block runs."""
    if work is None:
        yield
        return
    work.start()
    try:
        yield
    finally:
        work.stop()


def _say_expected(work: ModelAtWork, most: int) -> None:
    """Print what asking a model is expected to take, without asking it."""
    session, questions = work.project.session, work.typical()
    n = max(0, min(most, len(session.askable)) - session.answerers.get(work.by, 0))
    expected = work.oracle.expected(questions, n=n if questions else 0)
    click.echo(
        f"{work.name} would be asked {plural(n, 'question')}: {expected}. Nothing was asked."
    )
    n_groups = max((len(question.groups) for question in questions), default=1)
    if n_groups > 1:
        click.echo(f"That is with {n_groups} groups; with more of them it is more.")


def _close(opened: Opened) -> None:
    n = len(opened.project.session.events)
    output = file_name_of(opened.project, "csv")
    opened.project.close()
    kept = f"{plural(n, 'answer')} {'is' if n == 1 else 'are'} in {opened.path}"
    say(
        f"{kept if n else f'No answer was given; the session is in {opened.path}'}. Run the same "
        f"command to go on; likewise export {opened.path} -o {output} writes the groups.",
        err=True,
    )
