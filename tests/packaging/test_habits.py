"""Habits that are easy to lose: pins, hooks, the list of targets, skips that say why."""

import ast
import importlib.util
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


def jobs(path):
    """Return the jobs of a workflow."""
    return yaml.safe_load(path.read_text("utf-8"))["jobs"].values()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_by_commit_and_says_which_version_it_is(path):
    asked = [step["uses"] for job in jobs(path) for step in job["steps"] if "uses" in step]
    assert asked
    assert [use for use in asked if not re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", use)] == []
    said = re.findall(r"uses: (\S+) # v\d+\.\d+\.\d+$", path.read_text("utf-8"), re.M)
    assert sorted(said) == sorted(asked)


def test_an_action_has_one_version():
    lines = "\n".join(path.read_text("utf-8") for path in WORKFLOWS)
    pins = set(re.findall(r"uses: (\S+)@(\S+)", lines))
    assert len(pins) == len({action for action, _ in pins})


def test_checks_and_fast_tests_run_on_three_systems_with_the_oldest_and_the_newest_python():
    (job,) = (
        job
        for job in jobs(ROOT / ".github/workflows/tests.yml")
        if {"run": "make check"} in job["steps"]
    )
    assert {"run": "make test-fast"} in job["steps"]
    matrix = job["strategy"]["matrix"]
    assert {name.split("-")[0] for name in matrix["system"]} == {"ubuntu", "macos", "windows"}
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    versions = re.findall(r"Python :: (3\.\d+)", text)
    assert matrix["python"] == [versions[0], versions[-1]]
    assert f'requires-python = ">={versions[0]}"' in text


def test_the_hooks_before_a_commit_are_what_make_check_runs():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    hooks = [hook for repo in config["repos"] for hook in repo["hooks"]]
    for hook in hooks:
        if hook.get("stages") == ["commit-msg"]:
            continue
        tool = re.fullmatch(r"\.venv/bin/([\w-]+(?: (?:check|format))?).*", hook["entry"])
        assert tool is not None
        assert f"\t$(BIN)/{tool[1]}" in MAKEFILE


@pytest.mark.parametrize(("n", "is_refused"), [(72, False), (73, True)])
def test_a_subject_has_at_most_72_characters(n, is_refused):
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    assert config["default_install_hook_types"] == ["pre-commit", "commit-msg"]
    (rule,) = (hook for hook in config["repos"][0]["hooks"] if hook["id"] == "subject")
    message = f"{'x' * n}\n\n{'y' * 100}\n"
    assert bool(re.search(rule["entry"], message, re.M | re.S)) == is_refused


def test_dependabot_watches_the_actions():
    config = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text("utf-8"))
    watched = {entry["package-ecosystem"]: entry["directory"] for entry in config["updates"]}
    assert watched["github-actions"] == "/"
    assert (ROOT / watched["npm"].lstrip("/") / "package.json").is_file()


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")
def test_make_alone_lists_everything_there_is_to_make():
    ran = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True)
    listed = re.findall(r"^make ([a-z-]+) +\S", ran.stdout, re.M)
    (phony,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.M)
    assert listed[0] == "help"
    assert sorted(listed) == sorted(phony.split())


def test_the_rooms_of_mutants_and_their_tests_are_there():
    spec: Any = importlib.util.spec_from_file_location("mutants", ROOT / "tools/mutants.py")
    mutants = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mutants)
    for places, tests in mutants.ROOMS.values():
        assert [place for place in places if not (ROOT / "src/likewise" / place).exists()] == []
        for test in tests:
            path, _, name = test.partition("::")
            assert (ROOT / path).exists(), test
            assert not name or f"class {name}(" in (ROOT / path).read_text("utf-8"), test


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda path: path.stem)
def test_a_test_that_needs_a_package_says_how_to_get_it(path):
    silent = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "importorskip":
            reasons = [word.value for word in node.keywords if word.arg == "reason"]
            texts = [getattr(reason, "value", "pip install ...") for reason in reasons]
            is_of_unix = getattr(node.args[0], "value", "") == "resource"  # no package
            if not is_of_unix and not any("pip install " in str(text) for text in texts):
                silent.append(node.lineno)
    assert silent == []
