"""What the documents say is tried out."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import click
import pytest

from likewise.cli import main
from likewise.cli.demo import PACKAGES

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_python_of_the_readme_runs(capsys):
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", README, re.S):
        exec(block, names)
    assert names["model"].n_clusters_ >= 3
    said = re.findall(r"print\(.*\)  # (.*?)(?: \.\.\.)?\n", README)
    lines = capsys.readouterr().out.splitlines()
    assert len(said) == len(lines) == 1
    assert all(line.startswith(start) for line, start in zip(lines, said, strict=True))


@pytest.mark.slow
def test_the_python_of_the_readme_is_typed(tmp_path):
    pytest.importorskip("mypy", reason="pip install mypy")
    blocks = re.findall(r"```python\n(.*?)```", README, re.S)
    python = "\n".join([*blocks, "reveal_type(model)"])
    (tmp_path / "readme.py").write_text(python, encoding="utf-8")
    # Other packages are left out: reading those of numpy and scipy would take most of the time.
    options = ["--strict", "--config-file=", "--ignore-missing-imports", "--no-site-packages"]
    # In a process of its own: mypy raises the recursion limit of the one it runs in.
    command = [sys.executable, "-m", "mypy", *options, "--follow-imports=silent", "readme.py"]
    place = os.environ | {"MYPYPATH": str(ROOT / "src")}
    ran = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env=place, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert 'Revealed type is "likewise.cluster.likewise.Likewise"' in ran.stdout


def documents():
    made = {"_build", "gallery", "generated"}
    pages = [p for p in (ROOT / "docs").rglob("*.md") if not made & set(p.parts)]
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(pages)]


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_every_link_in_a_document_leads_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8")):
        if not target.startswith(("http:", "https:")):
            assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_every_command_and_option_in_a_document_exists(path):
    text = path.read_text(encoding="utf-8")
    blocks = "\n".join(re.findall(r"```(?:\w*)\n(.*?)```", text, re.S))
    for line in re.findall(r"^(?:\$ )?likewise (.*)$", blocks, re.M):
        words = line.split("#")[0].split()
        command: click.Command = main
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            with click.Context(command) as context:
                _, found, words = command.resolve_command(context, words)
            assert found is not None, line
            command = found
        known = {option for p in command.params for option in (*p.opts, *p.secondary_opts)}
        for option in re.findall(r"(?<!\S)--?[a-z][\w-]*", " ".join(words)):
            assert option in known | {"--help", "-h", "--version"}, line


def test_every_room_is_in_the_architecture():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for room in (ROOT / "src" / "likewise").iterdir():
        if (room / "__init__.py").exists():
            assert f"`{room.name}`" in text, room.name
    for module in (ROOT / "src" / "likewise" / "core").glob("[a-z]*.py"):
        assert f"`{module.name}`" in text, module.name


def named_by_extra(extra):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: set[str] = set()
    for need in project["optional-dependencies"][extra]:
        if of_others := re.fullmatch(r"likewise\[([\w,]+)\]", need):
            found.update(*map(named_by_extra, of_others[1].split(",")))
        else:
            found.add(re.split(r"[^\w-]", need)[0])
    return found


@pytest.mark.parametrize(
    ("extra", "packages"), [("app", {"starlette", "pillow", "pyarrow", "onnxruntime"})]
)
def test_the_extras_that_the_readme_names_bring_what_its_commands_need(extra, packages):
    assert packages <= named_by_extra(extra)
    assert re.search(rf"\[[a-z,]*{extra}[a-z,]*\]", README)


def test_the_demo_opens_its_page_with_nothing_but_the_extra_that_start_names():
    distributions = packages_distributions()
    needed = {distributions[name][0] for name in PACKAGES if name in distributions}
    assert needed <= named_by_extra("app")


@pytest.mark.parametrize("name", ["README.md", "docs/index.md", "docs/start.md", "docs/page.md"])
def test_before_a_release_commands_install_from_a_clone(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = "\n".join(re.findall(r"```\n(.*?)```", text, re.S))
    assert not re.search('pip install "?likewise', blocks)
    assert 'pip install ".[app]"' in text
