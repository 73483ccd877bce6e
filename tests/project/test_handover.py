"""What the next program takes is read back, by that program where it is installed."""

import csv
import io
import json
import zipfile
from contextlib import closing
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from likewise import Answer
from likewise.cli import main
from likewise.errors import InputError, WriteError
from likewise.page.calls import export_
from likewise.project import export, open_project
from likewise.project.formats import columns_of, formats_for
from likewise.project.handover import Part, folders, safe_names, sidecar, write_folder

RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
DC = "{http://purl.org/dc/elements/1.1/}"
LR = "{http://ns.adobe.com/lightroom/1.0/}"


@pytest.fixture
def photos(tmp_path):
    Image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
    folder = tmp_path / "photos"
    for k in range(12):
        below = folder / ("test" if k % 4 else "a b")
        below.mkdir(parents=True, exist_ok=True)
        color = (250, 10 * k, 0) if k % 2 else (0, 10 * k, 250)
        Image.new("RGB", (24, 24), color).save(below / f"{k // 2}{'ab'[k % 2]}.png")
    return folder


@pytest.fixture
def project(photos):
    opened = open_project(photos, options={"encoder": "layout"})
    project = opened.project
    for _ in range(4):
        question = project.ask()
        mine = project.ids[question.row][-5]
        places = [
            k
            for k, group in enumerate(question.groups)
            if group and project.ids[group[0]][-5] == mine
        ]
        said = places[0] if places else Answer.NONE
        project.choose(said, number=question.number, position=project.position)
    project.name(project.groups()[0].id, "../CON", position=project.position)
    yield project
    project.close()


def files_below(folder):
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def test_every_group_becomes_a_folder_of_its_pictures(project, tmp_path):
    columns = columns_of(project)
    target = tmp_path / "groups"
    assert write_folder(folders(project), target) == 12
    found = {path.name: path for path in target.rglob("*.png")}
    assert len(found) == 12
    together: dict[Path, set[str]] = {}
    for name, group in zip(columns["id"], columns["group"], strict=True):
        path = found[Path(name).name]
        assert path.samefile(project.items.source / name)  # a hard link
        together.setdefault(path.parent, set()).add(group)
    assert all(len(groups) == 1 for groups in together.values())
    assert ".._CON" not in {path.name for path in target.iterdir()}
    assert all(path.parent == target for path in together)


@pytest.mark.parametrize("links", ["symbolic", "copies"])
def test_folders_hold_links_or_copies(project, tmp_path, links):
    write_folder(folders(project), tmp_path / "to", links)
    for path in (tmp_path / "to").rglob("*.png"):
        assert path.is_symlink() == (links == "symbolic")
        assert path.stat().st_nlink == 1
        (original,) = project.items.source.rglob(path.name)
        assert path.read_bytes() == original.read_bytes()


def test_nothing_is_replaced_and_nothing_is_written_outside(tmp_path):
    target = tmp_path / "to"
    (target / "cats").mkdir(parents=True)
    (target / "cats" / "a.png").write_bytes(b"mine")
    parts = [Part("dogs/b.png", lambda: b"b"), Part("cats/a.png", lambda: b"a")]
    with pytest.raises(InputError, match=r"a\.png exists already, and nothing is replaced"):
        write_folder(parts, target)
    assert files_below(target) == ["cats/a.png"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (target / "dogs").symlink_to(elsewhere)
    for path in ("dogs/b.png", "../b.png", "cats/../../b.png"):
        with pytest.raises(InputError, match="would lie outside of"):
            write_folder([Part(path, lambda: b"b")], target)
    (target / "cats" / "c.png").symlink_to(elsewhere / "c.png")  # leads nowhere yet
    with pytest.raises(InputError, match="exists already"):
        write_folder([Part("cats/c.png", lambda: b"c")], target)
    assert not list(elsewhere.iterdir())


def test_what_was_written_before_an_error_is_removed(tmp_path):
    def fails():
        raise OSError(28, "No space left on device")

    with pytest.raises(WriteError, match=r"No space left on device.*free some space and try again"):
        write_folder([Part("a/b.png", lambda: b"b"), Part("a/c.png", fails)], tmp_path / "to")
    assert not (tmp_path / "to").exists()


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("cats/dogs", "cats_dogs"),
        ("..", "_"),
        ("nul.txt", "_nul.txt"),
        ("a. ", "a"),
        ("x" * 300, "x" * 80),
        ("tab\tline\n", "tab_line_"),
        ("\udcff", "_"),
        ("日本 🐟", "日本 🐟"),
    ],
)
def test_names_of_groups_are_safe_as_names_of_folders(name, safe):
    assert safe_names([name]) == [safe]
    assert safe_names([name, name])[1] == f"{safe} (2)"


def test_a_sidecar_tells_what_was_said_from_what_was_learned(project):
    rows = dict(zip(columns_of(project)["id"], columns_of(project)["how"], strict=True))
    with zipfile.ZipFile(io.BytesIO(export(project, "xmp"))) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    assert set(found) == {f"{name}.xmp" for name, how in rows.items() if how != "open"}
    assert {"said", "learned"} <= set(rows.values())
    for name, how in rows.items():
        if how == "open":
            continue
        root = ElementTree.fromstring(found[f"{name}.xmp"])
        (keyword,) = [li.text for li in root.find(f".//{DC}subject").iter(f"{RDF}li")]
        (nested,) = [li.text for li in root.find(f".//{LR}hierarchicalSubject").iter(f"{RDF}li")]
        assert nested == f"likewise|{how}|{keyword}"
        assert f'likewise:how="{how}"'.encode() in found[f"{name}.xmp"]


def test_a_hostile_name_stays_text_in_a_sidecar():
    name = 'a<b>&"]]>|\x00'
    root = ElementTree.fromstring(sidecar(name, "said", 1.0))
    assert root.find(f".//{DC}subject//{RDF}li").text == name.replace("\x00", "\ufffd")
    levels = root.find(f".//{LR}hierarchicalSubject//{RDF}li").text.split("|")
    assert levels[:2] == ["likewise", "said"]
    assert len(levels) == 3


def test_pillow_reads_a_sidecar(project):
    Image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
    pytest.importorskip("defusedxml", reason="pip install defusedxml")
    picture = Image.new("RGB", (4, 4))
    file = io.BytesIO()
    picture.save(file, "jpeg", xmp=sidecar("cats & dogs", "said", 1.0).encode())
    about = Image.open(file).getxmp()["xmpmeta"]["RDF"]["Description"]
    assert about["subject"]["Bag"]["li"] == "cats & dogs"
    assert about["how"] == "said"


def test_exiv2_reads_a_sidecar(project, tmp_path):
    pyexiv2 = pytest.importorskip("pyexiv2", reason="pip install pyexiv2")
    write_folder(parts_of(project, "xmp"), tmp_path / "to")
    columns = columns_of(project)
    for name, how, key, called in zip(
        columns["id"], columns["how"], columns["group"], columns["name"], strict=True
    ):
        with pyexiv2.Image(str(tmp_path / "to" / f"{name}.xmp")) as sidecar:
            found = sidecar.read_xmp()
        group = called or f"group {key}"
        assert found["Xmp.dc.subject"] == [group]
        assert found["Xmp.lr.hierarchicalSubject"] == [f"likewise|{how}|{group.replace('|', '/')}"]
        assert found["Xmp.digiKam.TagsList"] == [f"likewise/{how}/{group.replace('/', '_')}"]
        assert (found["Xmp.likewise.group"], found["Xmp.likewise.how"]) == (group, how)


def test_an_imagefolder_has_every_picture_and_its_metadata(project, tmp_path):
    write_folder(parts_of(project, "imagefolder"), tmp_path / "to", "copies")
    lines = (tmp_path / "to" / "train" / "metadata.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    columns = columns_of(project)
    assert [row["id"] for row in rows] == columns["id"]
    assert [row["how"] for row in rows] == columns["how"]
    assert {f"train/{row['file_name']}" for row in rows} | {"train/metadata.jsonl"} == set(
        files_below(tmp_path / "to")
    )
    for row in rows:
        original = project.items.source / row["id"]
        assert (tmp_path / "to" / "train" / row["file_name"]).read_bytes() == original.read_bytes()


@pytest.fixture
def with_broken(project):
    """The project opened again, with two equal broken pictures that have joined."""
    folder = project.items.source
    for name in ("broken.png", "x/broken too.png"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"\x89PNG nothing")
    project.close()
    with closing(open_project(folder).project) as opened:
        yield opened


def test_a_broken_picture_is_in_no_folder_of_a_group(with_broken):
    paths = {part.path for part in folders(with_broken)}
    assert {"not grouped/broken.png", "not grouped/broken too.png"} <= paths
    assert len(paths) == 14
    assert sum(path.startswith("not grouped/") for path in paths) == 2


def test_a_broken_picture_does_not_stop_the_reader_of_an_imagefolder(with_broken):
    Image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')
    *pictures, metadata = parts_of(with_broken, "imagefolder")
    assert len(pictures) == len(metadata.read().splitlines()) == 12
    for part in pictures:
        Image.open(io.BytesIO(part.read())).load()


def test_datasets_reads_an_imagefolder(project, tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets", reason="pip install datasets")
    write_folder(parts_of(project, "imagefolder"), tmp_path / "to", "copies")
    read = datasets.load_dataset(
        "imagefolder", data_dir=str(tmp_path / "to"), cache_dir=str(tmp_path / "cache")
    )
    assert list(read) == ["train"]
    assert read["train"]["id"][:] == columns_of(project)["id"]
    assert read["train"][0]["image"].size == (24, 24)


def parts_of(project, name):
    from likewise.project.formats import format_of

    parts = format_of(name).parts
    assert parts is not None
    return list(parts(project))


def test_label_studio_gets_annotations_and_predictions(project):
    parts = {part.path: part.read() for part in parts_of(project, "label-studio")}
    tasks, columns = json.loads(parts["tasks.json"]), columns_of(project)
    assert [task["data"]["id"] for task in tasks] == columns["id"]
    config = ElementTree.fromstring(parts["labels.xml"])
    (shown,), (choices,) = config.findall("Image"), config.findall("Choices")
    known = {choice.get("value") for choice in choices}
    assert (shown.get("value"), shown.get("name")) == ("$image", choices.get("toName"))
    for task, how in zip(tasks, columns["how"], strict=True):
        kind = {"said": "annotations", "learned": "predictions"}.get(how)
        assert {"annotations", "predictions"} & set(task) == ({kind} if kind else set())
        if kind:
            (one,) = task[kind]
            (result,) = one["result"]
            assert (result["from_name"], result["to_name"]) == ("group", "item")
            assert result["type"] == "choices"
            assert set(result["value"]["choices"]) <= known
        assert task["data"]["image"].startswith("/data/local-files/?d=photos/")
        assert " " not in task["data"]["image"]


def test_label_studio_takes_the_labels(project):
    sdk = pytest.importorskip(
        "label_studio_sdk.label_interface", reason="pip install label-studio-sdk"
    )
    parts = {part.path: part.read() for part in parts_of(project, "label-studio")}
    interface = sdk.LabelInterface(parts["labels.xml"].decode())
    interface.validate()
    for task in json.loads(parts["tasks.json"]):
        assert interface.validate_task({"data": task["data"]})
        assert all(map(interface.validate_annotation, task.get("annotations", [])))
        assert all(map(interface.validate_prediction, task.get("predictions", [])))


def test_rows_and_texts_go_to_label_studio_too(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{k},x{k % 3}\n" for k in range(9)))
    with closing(open_project(tmp_path / "t.csv").project) as project:
        parts = {part.path: part.read() for part in parts_of(project, "label-studio")}
        assert json.loads(parts["tasks.json"])[0]["data"]["row"] == {"a": "0", "b": "x0"}
        assert b'<Table name="item" value="$row"' in parts["labels.xml"]
        assert not {"folders", "xmp", "imagefolder"} & set(formats_for(project))
        with pytest.raises(InputError, match="this is for pictures in a folder"):
            export(project, "folders")


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    names = [f"{100 + k},{name}{k % 2},{k % 5}" for k, name in enumerate(["ann", "bob"] * 10)]
    path.write_text("unique_id,name,x\n" + "\n".join(names) + "\n")
    opened = open_project(path, questions="pairs", options={"id": "unique_id"})
    project = opened.project
    for _ in range(6):
        query = project.ask()
        same = query.left % 2 == query.right % 2
        said = Answer.SAME if same else Answer.DIFFERENT
        project.tell(said, number=query.number, position=project.position)
    yield project
    project.close()


def test_splink_gets_the_pairs_that_were_judged(people):
    rows = list(csv.DictReader(io.StringIO(export(people, "splink").decode())))
    assert list(rows[0]) == [
        "source_dataset_l", "unique_id_l", "source_dataset_r", "unique_id_r", "clerical_match_score"
    ]  # fmt: skip
    assert len(rows) == 6
    for row in rows:
        left, right = int(row["unique_id_l"]), int(row["unique_id_r"])
        assert left < right
        assert float(row["clerical_match_score"]) == float(left % 2 == right % 2)
        assert row["source_dataset_l"] == row["source_dataset_r"] == "people"


def test_splink_reads_its_labels(people, tmp_path):
    splink = pytest.importorskip("splink", reason="pip install 'splink>=5'")
    comparisons = pytest.importorskip("splink.comparison_library", reason="pip install 'splink>=5'")
    pandas = pytest.importorskip("pandas", reason='pip install "likewise[tables]"')
    frame = pandas.read_csv(people.items.source)
    labels = pandas.read_csv(io.BytesIO(export(people, "splink")))
    settings = splink.SettingsCreator(
        link_type="dedupe_only",
        comparisons=[comparisons.ExactMatch("name")],
        blocking_rules_to_generate_predictions=[splink.block_on("x")],
    )
    database = splink.DuckDBAPI()
    linker = splink.Linker(database.register(frame, dataset_display_name="people"), settings)
    table = linker.table_management.register_labels_table(database.register(labels))
    linker.training.estimate_m_from_pairwise_labels(table)
    linker.evaluation.prediction_errors_from_labels_table(table)


def test_the_command_writes_folders_and_zip_files(project, tmp_path):
    session, to = str(project.path), tmp_path / "to"
    run = CliRunner().invoke(main, ["export", session, "-o", str(to), "--format", "folders"])
    assert run.exit_code == 0, run.output
    assert "12 files" in run.output
    again = CliRunner().invoke(main, ["export", session, "-o", str(to), "--format", "folders"])
    assert again.exit_code != 0
    assert "nothing is replaced" in again.output
    inside = project.items.source / "groups"
    refused = CliRunner().invoke(
        main, ["export", session, "-o", str(inside), "--format", "folders"]
    )
    assert "Choose a folder elsewhere" in refused.output
    beside = ["export", session, "-o", str(project.items.source), "--format", "xmp"]
    assert CliRunner().invoke(main, beside).exit_code == 0
    assert list(project.items.source.rglob("*.png.xmp"))
    zipped = ["export", session, "-o", str(tmp_path / "f.zip"), "--format", "folders"]
    assert CliRunner().invoke(main, zipped).exit_code == 0
    with zipfile.ZipFile(tmp_path / "f.zip") as archive:
        assert len(archive.namelist()) == 12
        assert archive.testzip() is None


def test_the_page_offers_what_fits(project):
    formats = formats_for(project)
    assert {"folders", "xmp", "imagefolder", "label-studio"} <= set(formats)
    assert "splink" not in formats
    reply = export_(project, {"format": "folders"})
    assert reply.media_type == "application/zip"
    assert 'filename="photos-folders.zip"' in reply.headers["content-disposition"]
