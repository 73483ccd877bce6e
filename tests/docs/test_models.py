"""The page about models: its Python and its commands run against a server on this machine."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

pytest.importorskip("httpx2", reason='needs the extra: pip install "likewise[model]"')

from tests.oracles.chat_server import served

from likewise.cli import main

TEXT = (Path(__file__).parents[2] / "docs/guide/models.md").read_text("utf-8")
OLLAMA = "http://localhost:11434/v1"


def test_the_python_runs_and_prints_what_it_says(capsys):
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    assert len(blocks) == 3
    with served() as server:
        for block in blocks:
            exec(block.replace(OLLAMA, server.base_url), names)
    told = re.findall(r"print\(.*\)  # (.*)", TEXT)
    assert capsys.readouterr().out.splitlines() == told
    assert len(set(names["session"].labels.tolist())) == 3


def test_the_commands_are_right(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("tickets.csv").write_text("body\n" + "".join(f"cat {k} says no\n" for k in range(12)))
    commands = [
        line for line in TEXT.replace("\\\n", "").splitlines() if line.startswith("likewise label")
    ]
    assert len(commands) == 5
    Path("products.csv").write_text("title\n" + "".join(f"screw M{k}\n" for k in range(12)))
    people = [f"Ann {k},a{k % 4}@x.org,200{k % 3}-01-01\n" for k in range(12)]
    Path("people.csv").write_text("name,email,birthday\n" + "".join(people))
    (rules,) = (command for command in commands if "--model" not in command)
    result = CliRunner().invoke(main, [*shlex.split(rules)[1:], "--terminal"], "q")
    assert result.exit_code == 0, result.output
    assert "rule same:email: 4 answers so far" in result.output
    assert "rule different:birthday:" in result.output
    commands.remove(rules)
    with served() as server:
        for command in commands:
            arguments = [
                server.base_url if word.startswith("https://") else word
                for word in shlex.split(command)[1:]
            ]
            if "--base-url" not in arguments:
                arguments += ["--base-url", server.base_url]
            arguments += ["--encoder", "words"]
            arguments += [] if "--dry-run" in arguments else ["--dry-run"]
            result = CliRunner().invoke(main, arguments)
            assert result.exit_code == 0, result.output
            assert "Nothing was asked" in result.output
        assert server.bodies == []
