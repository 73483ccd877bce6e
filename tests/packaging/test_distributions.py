"""What is published: built twice to the same bytes, complete, small and without strays."""

import email
import json
import os
import re
import runpy
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

import likewise

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def build(folder):
    """Build both distributions without a network, at a fixed time."""
    code = (
        "import sys, hatchling.build as b; b.build_sdist(sys.argv[1]); b.build_wheel(sys.argv[1])"
    )
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run([sys.executable, "-c", code, str(folder)], check=True, cwd=ROOT, env=environment)
    return {path.suffix: path for path in folder.iterdir()}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    pytest.importorskip("hatch_fancy_pypi_readme", reason="pip install hatch-fancy-pypi-readme")
    return [build(tmp_path_factory.mktemp("dist")) for _ in range(2)]


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".whl", ".gz"])
def test_two_builds_are_the_same_bytes(built, suffix):
    first, second = (files[suffix] for files in built)
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.slow
def test_the_wheel_is_the_package_its_license_and_its_bill_of_materials(built):
    wheel = built[0][".whl"]
    assert wheel.stat().st_size < 1_000_000
    infos = zipfile.ZipFile(wheel).infolist()
    sums = [info.CRC for info in infos if info.file_size]
    assert len(set(sums)) == len(sums)  # check-wheel-contents refuses a file that is there twice
    names = [info.filename for info in infos]
    about = f"likewise-{likewise.__version__}.dist-info/"
    assert {name.split("/")[0] for name in names} == {"likewise", about.rstrip("/")}
    assert about + "licenses/LICENSE" in names
    assert about + "licenses/src/likewise/items/encoders/LICENSE.bert" in names
    assert "likewise/items/encoders/bert_uncased.txt" in names
    assert about + "sboms/likewise.cdx.json" in names
    assert "likewise/py.typed" in names
    assert not [name for name in names if "test_" in name or "__pycache__" in name]


@pytest.mark.slow
def test_the_sdist_can_be_tested_and_has_no_strays(built):
    with tarfile.open(built[0][".gz"]) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    assert {"Makefile", "README.md", "pyproject.toml", "requirements/dev.lock"} <= names
    assert {name.split("/")[0] for name in names} >= {"src", "tests", "docs", "examples"}
    if not (ROOT / ".git").exists():
        pytest.skip("strays are what git does not know")
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    known = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert names - {"PKG-INFO"} <= set(known.split("\n"))


@pytest.mark.slow
def test_pypi_shows_a_readme_whose_pictures_and_links_are_absolute(built):
    wheel = zipfile.ZipFile(built[0][".whl"])
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = email.message_from_bytes(wheel.read(name))
    assert metadata["Version"] == likewise.__version__
    assert metadata["Description-Content-Type"].startswith("text/markdown")
    targets = re.findall(r"\]\(([^)]+)\)", str(metadata.get_payload()))
    assert targets
    assert [target for target in targets if not target.startswith("https://")] == []


def test_the_bill_of_materials_names_every_dependency():
    made = runpy.run_path(str(ROOT / "packaging/make_sbom.py"))
    bill = json.loads((ROOT / "packaging/likewise.cdx.json").read_text("utf-8"))
    licenses = {c["name"]: c["licenses"][0]["license"]["name"] for c in bill["components"]}
    assert bill == made["bill"](licenses)
    assert (ROOT / "docs/licenses.md").read_text("utf-8") == made["table"](licenses)


def test_the_conda_recipe_asks_for_what_the_wheel_asks_for():
    recipe = yaml.safe_load((ROOT / "packaging/recipe.yaml").read_text("utf-8"))
    wanted = {need.replace(" ", "") for need in recipe["requirements"]["run"]}
    assert wanted - {"python>=${{python_min}}"} == set(PROJECT["dependencies"])
    (entry,) = recipe["build"]["python"]["entry_points"]
    assert entry.split(" = ") == ["likewise", PROJECT["scripts"]["likewise"]]


def test_the_newest_release_is_the_one_to_cite_and_to_package():
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    (newest, date), *_ = re.findall(r"^## ([\d.]+) \(([\d-]+)\)$", changes, re.M)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    recipe = yaml.safe_load((ROOT / "packaging/recipe.yaml").read_text("utf-8"))
    assert citation["version"] == recipe["context"]["version"] == newest
    assert str(citation["date-released"]) == date
    if "dev" in likewise.__version__:
        following = likewise.__version__.partition(".dev")[0]
        assert f"\n## {following} (unreleased)\n" in changes.partition(f"\n## {newest}")[0]
    else:
        assert likewise.__version__ == newest


def test_what_is_new_is_read_in_three_minutes():
    newest = (ROOT / "CHANGELOG.md").read_text("utf-8").split("\n## ")[1]
    assert len(newest.split()) < 1200
    items = re.findall(r"^- .*$", newest, re.M)
    assert len(items) == len(set(items))


def test_all_places_name_the_same_repository():
    places = ["pyproject.toml", "packaging/recipe.yaml", ".github/ISSUE_TEMPLATE/config.yml"]
    text = "".join((ROOT / place).read_text("utf-8") for place in places)
    named = re.findall(r"https://(?:raw\.githubusercontent|github)\.com/([\w-]+/[\w-]+)", text)
    assert len(named) > len(places)
    assert set(named) == {PROJECT["urls"]["Source"].removeprefix("https://github.com/")}


@pytest.mark.parametrize("path", sorted((ROOT / ".github").glob("*/*.yml")), ids=lambda p: p.name)
def test_workflows_and_templates_are_yaml_of_the_right_shape(path):
    plain = yaml.safe_load(path.read_text("utf-8"))
    if path.parent.name == "workflows":
        assert plain["permissions"] == {}
        for job in plain["jobs"].values():
            assert job["timeout-minutes"] <= 30
            assert all(("uses" in step) != ("run" in step) for step in job["steps"])
    elif path.stem != "config":
        assert {"name", "description", "body"} <= set(plain)


def test_only_the_job_that_publishes_may_ask_for_a_token():
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"]
    assert [name for name, job in jobs.items() if "id-token" in job["permissions"]] == ["publish"]
    assert jobs["publish"]["steps"][-1]["with"]["attestations"] is True
    assert not any("run" in step for step in jobs["publish"]["steps"])


def test_every_python_of_the_classifiers_is_tested_and_the_lowest_versions_too():
    jobs = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text("utf-8"))["jobs"]
    matrix = jobs["versions"]["strategy"]["matrix"]["include"]
    named = {c.split()[-1] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)}
    assert {entry["python"] for entry in matrix} == named
    assert {entry["python"] for entry in matrix if entry["resolution"] == "lowest-direct"} == {
        PROJECT["requires-python"].removeprefix(">=")
    }
