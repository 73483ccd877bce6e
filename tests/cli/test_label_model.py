"""`likewise label --model`: against a real server, and with the page."""

import json
import os
import re
import subprocess
import sys
import urllib.request
from typing import Any

import pytest
from click.testing import CliRunner

pytest.importorskip("httpx2", reason='needs the extra: pip install "likewise[model]"')

from tests.oracles.chat_server import served

from likewise.cli import main
from likewise.project import open_project

WORDS = ("cat", "dog", "fox")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "tickets.csv"
    rows = [f"{WORDS[k % 3]} {WORDS[k % 3]}s sound {k}" for k in range(30)]
    path.write_text("body\n" + "".join(f"{row}\n" for row in rows))
    return path


def label(*arguments):
    return CliRunner().invoke(main, ["label", *map(str, arguments)])


ABOUT = ("--text", "body", "--encoder", "words", "--model", "llama3")


def test_a_dry_run_says_what_to_expect_and_asks_nothing(table):
    with served() as server:
        result = label(
            table, *ABOUT, "--instruction", "the same animal?", "--base-url", server.base_url,
            "--dry-run",
        )  # fmt: skip
        assert result.exit_code == 0, result.output
        assert re.search(
            r"llama3 would be asked 30 questions: up to \d+ calls, about \d+ tok", result.output
        )
        assert "That is with 10 groups; with more of them it is more." in result.output
        assert server.bodies == []


def test_a_dry_run_says_what_it_costs_if_it_knows_the_price(table):
    result = label(
        table, *ABOUT, "--instruction", "the same animal?", "--dry-run", "--price", "0.5", "2",
        "--max-cost", "1",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert re.search(r"tokens, a cost of about 0\.\d\d\. Nothing was asked", result.output)


def test_a_model_must_know_what_belongs_together(table):
    result = label(table, *ABOUT, "--dry-run")
    assert result.exit_code == 2
    assert '--instruction "the same product?"' in result.output


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--dry-run",), "are for --model"),
        (("--base-url", "http://localhost"), "are for --model"),
        (("--max-tokens", "9"), "are for --model"),
        (("--model", "llama3", "--max-cost", "1"), "--max-cost needs --price"),
        (("--model", "llama3", "--terminal"), "leave out --terminal"),
        (("--people", "Ana", "--terminal"), "are for the page"),
        (("--port", "0", "--terminal"), "are for the page"),
        (("--keyfile", __file__), "--certfile, which is missing"),
    ],
)
def test_options_that_exclude_each_other(table, arguments, why):
    result = label(table, *arguments)
    assert result.exit_code == 2
    assert why in result.output


def test_rules_answer_before_anybody_is_asked(tmp_path):
    path = tmp_path / "people.csv"
    rows = [f"{WORDS[k % 3]} {k},{'' if k % 4 else f'm{k % 8}@x.org'}" for k in range(24)]
    path.write_text("body,email\n" + "".join(f"{row}\n" for row in rows))
    rules = ("--rule", "same:email", "--rule", "digits:body")
    result = CliRunner().invoke(main, ["label", str(path), *ABOUT[:4], *rules, "--terminal"], "q")
    assert result.exit_code == 0, result.output
    assert "rule same:email: 2 answers so far" in result.output
    opened = open_project([path], say=lambda _: None)
    try:
        assert opened.project.session.answerers["rule:same:email"] == 2
        assert opened.project.session.answerers["rule:digits:body"] > 0
    finally:
        opened.project.close()
    result = label(path, *ABOUT[:4], "--rule", "same:mail", "--terminal")
    assert result.exit_code == 1
    assert "has no column 'mail'; its columns are " in result.output


@pytest.mark.slow
def test_the_page_is_served_while_the_model_answers(table):
    with served() as server:
        environment = {**os.environ, "LIKEWISE_MODEL_KEY": "sk-planted-77"}
        process = subprocess.Popen(
            [
                sys.executable, "-m", "likewise", "label", str(table), *ABOUT, "--instruction",
                "the same animal?", "--base-url", server.base_url, "--no-browser", "--port", "0",
                "--max-answers", "12",
            ],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        try:
            process.stdout.readline()
            leading = process.stdout.readline().strip()
            page = urllib.request.urlopen(leading).read().decode()
            address = re.findall(r"http://[^\"'<> ]+", page)[0].replace("&amp;", "&")
            opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            opener.open(address).read()
            home = address.split("/?")[0].split("?")[0].rstrip("/")
            report: Any = None
            for _ in range(3000):
                try:
                    report = json.loads(opener.open(f"{home}/api/progress").read())["model"]
                except urllib.error.HTTPError:  # not open yet
                    continue
                if not report["is_working"]:
                    break
            assert report["line"].startswith("llama3 answered 12")
            assert report["warning"] == ""
        finally:
            process.terminate()
            out, err = process.communicate(timeout=60)
    assert "sk-planted-77" not in out + err
    folder = table.parent
    for path in folder.rglob("*"):
        if path.is_file():
            assert b"sk-planted-77" not in path.read_bytes()
    opened = open_project([table], say=lambda _: None)
    try:
        assert opened.project.session.answerers == {"model:llama3": 12}
    finally:
        opened.project.close()
