"""A kind of items from outside the package: this module is all that it needs."""

import re
import sys
from contextlib import closing
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from likewise.cli import main
from likewise.errors import InputError
from likewise.items import KINDS, Aspect, Items, open_items
from likewise.items.items import digest
from likewise.page import shapes
from likewise.project import open_project
from likewise.testing import ItemsLaws


class Colors(Items):
    """Colors such as #ff0000, one per line of a file."""

    kind = "colors"
    noun = "color"
    options = ("scale",)

    def __init__(self, source, lines, scale):
        super().__init__(source, lines)
        self._X = np.array([[int(line[k : k + 2], 16) for k in (1, 3, 5)] for line in lines])
        self._scale = scale

    @classmethod
    def recognizes(cls, source, options):
        return getattr(source, "suffix", "") == ".colors"

    @classmethod
    def open(cls, source, *, cache, scale=255):
        return cls(source, source.read_text().split(), scale)

    def title(self, i):
        return self.ids[i]

    def view(self, i):
        fields = [[name, str(value)] for name, value in zip("rgb", self._X[i], strict=True)]
        return {"kind": self.kind, "text": f"a color: {self.ids[i]}", "fields": fields}

    def content_hash(self, i):
        return digest(self.ids[i])

    def sum_up(self, some):
        return "reddish" if self._X[list(some), 0].mean() > 127 else "bluish"

    def aspects(self):
        return [Aspect("color", "red, green and blue", {"scale": self._scale})]

    def compute(self, aspect, progress=None):
        return self._X / aspect.recipe["scale"]


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A file of colors, and the kind installed by an entry point of another package."""
    monkeypatch.setitem(sys.modules, "paintbox", sys.modules[__name__])
    entry = EntryPoint("colors", "paintbox:Colors", "likewise.items")
    monkeypatch.setattr(
        "likewise.registry.entry_points", lambda group: [entry] if group == entry.group else []
    )
    monkeypatch.setattr(KINDS, "_known", {**KINDS._known})
    monkeypatch.setattr(KINDS, "_has_looked", False)
    found = tmp_path / "paints.colors"
    found.write_text("#ff0000 #fe0000 #0000ff #0000fe #ff0101 #0101ff")
    return found


def test_it_is_recognized_or_named(path, tmp_path):
    items = open_items(path)
    assert (items.kind, repr(items)) == ("colors", f"<6 colors from {path}>")
    assert open_items(path, scale=1).features().X[0].tolist() == [255, 0, 0]
    (tmp_path / "plain.txt").write_text("#00ff00 #010101")
    assert open_items(tmp_path / "plain.txt", kind="colors").n == 2
    with pytest.raises(InputError, match=r"--text is for texts; .* is opened as colors"):
        open_items(path, text="a")
    with pytest.raises(InputError, match="there is no kind of items 'smells'"):
        open_items(path, kind="smells")


def test_it_may_be_registered_by_a_script(tmp_path, monkeypatch):
    monkeypatch.setattr(KINDS, "_known", {**KINDS._known})
    KINDS.register("colors", Colors)
    (tmp_path / "x.colors").write_text("#00ff00 #010101")
    assert open_items(tmp_path / "x.colors").kind == "colors"


def test_the_page_shows_it(path, client_for):
    project = open_project(path, questions="pairs", options={"cache": False}).project
    client = client_for(project)
    assert "6 colors" in client.get("/").text
    left = client.state()["question"]["left"]
    name = project.ids[left["row"]]
    assert (left["kind"], left["heading"], left["line"]) == ("colors", name, f"a color: {name}")
    assert left["view"]["text"] == f"a color: {name}"
    assert left["view"]["fields"][1] == ["g", str(int(name[3:5], 16))]
    state = client.finish([0, 0, 1, 1, 0, 1])
    assert state["is_done"]
    summaries = {group["summary"] for group in client.get("/api/groups").json()["groups"]}
    assert summaries == {"reddish", "bluish"}
    project.close()


def test_the_terminal_shows_it(path):
    result = CliRunner().invoke(main, ["label", str(path), "--terminal"], input="q\n")
    assert result.exit_code == 0, result.output
    assert "6 colors from" in result.output
    assert "a color: #" in result.output
    assert "g: 1" in result.output or "g: 0" in result.output


def documented_kind():
    """Return the example of docs/items.md."""
    text = (Path(__file__).parents[2] / "docs" / "items.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n((?:(?!```).)*class Colors.*?)```", text, re.S)
    return code


def test_the_kind_in_the_documentation_works(tmp_path, monkeypatch):
    monkeypatch.setattr(KINDS, "_known", {**KINDS._known})
    exec(documented_kind(), {"__name__": "documented"})
    (tmp_path / "x.colors").write_text("lime #00ff00\nblack #010101")
    items = open_items(tmp_path / "x.colors")
    assert items.view(0) == {"kind": "colors", "fields": [["color", "#00ff00"]]}
    assert items.features().X[0].tolist() == [0, 1, 0]
    assert items.features().description == "red, green and blue"
    (tmp_path / "y.colors").write_text("red #ff0000")
    assert items.describe(tmp_path / "y.colors").block("color").tolist() == [[1, 0, 0]]


class TestDocumentedColors(ItemsLaws):
    """The example of docs/items.md obeys the laws."""

    @pytest.fixture(autouse=True)
    def _documented(self, monkeypatch):
        monkeypatch.setattr(KINDS, "_known", {**KINDS._known})
        exec(documented_kind(), {"__name__": "documented"})

    def write(self, folder, *, is_changed):
        path = folder / "paints.colors"
        path.write_text(f"a #ff0000\nb #00ff00\nc #0000{'fe' if is_changed else 'ff'}\n")
        return path


def test_the_page_says_what_was_left_out(tmp_path):
    rows = "\n".join(f"{k * 7},{k % 3},{k}" for k in range(30))
    (tmp_path / "t.csv").write_text(f"user_id,size,row\n{rows}\n")
    with closing(open_project(tmp_path / "t.csv").project) as project:
        assert shapes.progress(project)["seen"]["notes"] == [
            "user_id: left out, it is an id. To compare by it: --columns user_id:number",
            "row: left out, it only counts the rows",
        ]


def test_the_page_lists_what_cannot_be_read(tmp_path):
    Image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
    for k in range(30):
        (tmp_path / f"{k:02d}.tif").write_bytes(b"II")
        Image.new("RGB", (20, 20), (8 * k, 0, 99)).save(tmp_path / f"{k:02d}.png")
    (tmp_path / "29.png").write_bytes(b"no picture")
    with closing(open_project(tmp_path, options={"encoder": "layout"}).project) as project:
        notes = shapes.progress(project)["seen"]["notes"]
    assert notes[0].startswith("pictures that cannot be read were left out: 30 .tif")
    assert notes[1] == "00.tif: .tif is not read. Convert them to PNG"
    assert (len(notes), notes[-1]) == (shapes.MOST_NOTES + 1, "and 12 others")
