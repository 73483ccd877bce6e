"""The site has every public name, and every page is in its tree."""

import importlib
import json
import re
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
ROOMS = ("", ".items", ".lab.datasets", ".oracles", ".project", ".strategies")


@pytest.mark.parametrize("room", [*ROOMS, ".testing"])
def test_every_public_name_is_in_the_reference(room):
    text = (DOCS / "reference.md").read_text("utf-8")
    listed = {name.split(".")[-1] for name in re.findall(r"^   ([\w.]+)$", text, re.M)}
    listed |= set(re.findall(r"`likewise\.[\w.]+\.([A-Z]+)`", text))
    public = importlib.import_module(f"likewise{room}").__all__
    assert set(public) <= listed


def test_every_error_is_in_the_reference():
    text = (DOCS / "reference.md").read_text("utf-8")
    errors = importlib.import_module("likewise.errors")
    for name, value in vars(errors).items():
        if isinstance(value, type) and value.__module__ == errors.__name__:
            assert re.search(rf"^   (errors\.)?{name}$", text, re.M), name


def test_every_page_is_in_the_tree():
    trees = [
        (page.parent, re.sub(r".*<(.+)>", r"\1", line))  # a page, or a title <page>
        for page in DOCS.rglob("*.md")
        for tree in re.findall(r"```{toctree}\n(.*?)```", page.read_text("utf-8"), re.S)
        for line in tree.split("\n")
        if line and not line.startswith(":")
    ]
    listed = {(folder / line).resolve() for folder, line in trees}
    pages = {page.with_suffix("").resolve() for page in DOCS.rglob("*.md")}
    left_out = {DOCS / "index"} | {p for p in pages if {"_build", "gallery"} & set(p.parts)}
    assert pages - left_out <= listed | set((DOCS / "generated").glob("*"))


def test_the_http_page_names_every_call():
    made = runpy.run_path(str(DOCS / "http_pages.py"))["page"]
    document = json.loads((DOCS / "openapi.json").read_text("utf-8"))
    text = made(document)
    for path, methods in document["paths"].items():
        for method in methods:
            assert f"`{method.upper()} {path}`" in text
    for name in re.findall(r"\]\(#(\w+)\)", text):
        assert f"\n### {name}\n" in text.lower()
