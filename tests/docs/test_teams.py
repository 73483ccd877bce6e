"""The page about several people: its commands are right, and its nginx is the one of the tests."""

import re
import shlex
from pathlib import Path

from tests.web.test_people import NGINX

from likewise.cli.agreement import agreement
from likewise.cli.label import label

COMMANDS = {"agreement": agreement, "label": label}
TEXT = (Path(__file__).parents[2] / "docs/guide/teams.md").read_text("utf-8")


def test_the_commands_are_right(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photos").mkdir()
    for name in ("photos.likewise", "cert.pem", "key.pem"):
        (tmp_path / name).touch()
    commands = [shlex.split(line) for line in TEXT.splitlines() if line.startswith("likewise ")]
    told = [
        COMMANDS[name].make_context(name, list(arguments)).params
        for _, name, *arguments in commands
    ]
    labels = [one for one in told if "people" in one]
    assert [one["people"] for one in labels] == [["Ana", "Ben"]] * 3
    assert [one["readers"] for one in labels] == [["Cleo"], [], []]
    assert len(told) == 4
    options = set(re.findall(r"`(--[a-z-]+)", TEXT))
    known = {option for one in label.params for option in one.opts}
    assert options <= known


def test_nginx_is_set_up_as_in_the_test_that_runs_it():
    (shown,) = re.findall(r"```nginx\n(.*?)```", TEXT, re.S)
    ran = {line.strip().replace("{inner}", "8642") for line in NGINX.splitlines()}
    lines = {line.strip() for line in shown.splitlines()} - {"location / {", "}"}
    assert lines
    assert lines <= ran
