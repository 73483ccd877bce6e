"""Session files of all releases open with all that was done in them."""

import importlib
import json
import shutil
import sys
from contextlib import closing
from pathlib import Path

import pytest

from likewise.core.journal import KINDS
from likewise.project import open_project
from likewise.project.checking import check_file

HERE = Path(__file__).parent
ASSETS = HERE / "assets"

sys.path.insert(0, str(HERE))
make_asset = importlib.import_module("make_asset")


@pytest.fixture(params=["schema-1"])
def asset(request, tmp_path):
    for suffix in (".likewise", ".csv"):
        shutil.copy(ASSETS / f"{request.param}{suffix}", tmp_path)
    return tmp_path / f"{request.param}.likewise", ASSETS / f"{request.param}.json"


def test_a_file_of_every_release_opens_with_all_its_entries(asset):
    path, expected = asset
    saved = json.loads(expected.read_text())
    finding = check_file(path)
    assert (finding.fault, finding.n_entries) == ("", len(saved["entries"]))
    with closing(open_project(path.with_suffix(".csv"), session=path).project) as project:
        assert make_asset.contents(project) == saved
        project.undo(position=project.position)
        make_asset.answer(project)


def test_the_file_of_this_release_has_every_kind_of_entry():
    saved = json.loads((ASSETS / "schema-1.json").read_text())
    assert {do for do, *_ in saved["entries"]} == {*KINDS, "undo", "redo"}
