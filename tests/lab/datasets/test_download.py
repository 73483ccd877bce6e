import csv
import errno
import gzip
import hashlib
import io
import json
import os
import shutil
import sys
import tarfile
import zipfile

import numpy as np
import pytest

from likewise.errors import DatasetError, MissingExtraError
from likewise.lab.datasets import download, load, loading, originals
from likewise.lab.datasets.catalog import ORIGINALS
from likewise.lab.datasets.newsgroups import Message, message_facts, read_messages

pytest.importorskip("pooch", reason='pip install "likewise[data]"')
HEADERS = {
    "segmentation.csv": ";;; a remark\n\nREGION-CENTROID-COL,REGION-CENTROID-ROW\n\n",
    "parkinsons.csv": "name,"
    + ",".join("MDVP:Fo(Hz)" if i != 16 else "status" for i in range(23))
    + "\n",
}


@pytest.fixture
def server(web, monkeypatch):
    monkeypatch.setattr(download, "UCI", f"{web.url}/uci")
    # The clients wait between attempts.
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    from sklearn.datasets import _openml

    for name, path in {
        "_DATA_INFO": "info",
        "_DATA_FEATURES": "features",
        "_DATA_QUALITIES": "qualities",
    }.items():
        monkeypatch.setattr(_openml, name, f"{web.url}/openml/{path}/{{}}")
    return web


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))


def uci_archive(data_home, file):
    """The table in UCI's own layout, made from the folder's."""
    original = ORIGINALS[file]
    lines = []
    for number, (*cells, label) in enumerate(rows_of(data_home / file)[1:]):
        row = [cell or "?" for cell in cells]
        for place in original.drop:
            row.insert(place, f"ID{number}")
        place = original.label % (len(row) + 1)
        row.insert(place, label)
        lines.append((original.delimiter or "  ").join(row))
    split = len(lines) // len(original.members)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("Index", "something else")
        for part, member in enumerate(original.members):
            end = None if part + 1 == len(original.members) else (part + 1) * split
            text = HEADERS.get(file, "") + "\n".join(lines[part * split : end]) + "\n\n"
            archive.writestr(f"folder/{member}", text)
    return buffer.getvalue()


def serve_uci(server, data_home, file):
    path = f"/uci/{ORIGINALS[file].archive}"
    server.files[path] = uci_archive(data_home, file)
    return path


def serve_openml(server, data_home, file, *, extra=()):
    """The table as OpenML has it: three JSON answers and an ARFF."""
    original = ORIGINALS[file]
    header, *rows = rows_of(data_home / file)
    rows += extra
    names = {ours: theirs for theirs, ours in original.openml_labels.items()}
    labels = sorted({names.get(row[-1], row[-1]) for row in rows})
    columns = [f"c{i}" for i in range(len(header) - 1)]
    lines = ["% a remark", "@relation table"]
    lines += [f"@attribute {column} numeric" for column in columns]
    lines += [f"@attribute class {{{','.join(labels)}}}", "@data"]
    lines += [
        ",".join([*(cell or "?" for cell in row[:-1]), names.get(row[-1], row[-1])]) for row in rows
    ]
    arff = "\n".join(lines).encode()
    number = original.openml
    server.files[f"/openml/file/{number}.arff"] = arff
    description = {
        "id": str(number),
        "name": "table",
        "version": "1",
        "format": "ARFF",
        "status": "active",
        "description": "",
        "url": f"{server.url}/openml/file/{number}.arff",
        "md5_checksum": hashlib.md5(arff).hexdigest(),
    }
    feature = {
        "is_ignore": "false",
        "is_row_identifier": "false",
        "number_of_missing_values": "0",
        "nominal_value": labels,
    }
    features = [
        {**feature, "index": str(i), "name": column, "data_type": "numeric", "is_target": "false"}
        for i, column in enumerate(columns)
    ] + [
        {
            **feature,
            "index": str(len(columns)),
            "name": "class",
            "data_type": "nominal",
            "is_target": "true",
        }
    ]
    qualities = [{"name": "NumberOfInstances", "value": str(float(len(rows)))}]
    answers = {
        "info": {"data_set_description": description},
        "features": {"data_features": {"feature": features}},
        "qualities": {"data_qualities": {"quality": qualities}},
    }
    for name, answer in answers.items():
        server.files[f"/openml/{name}/{number}"] = json.dumps(answer).encode()


def left_over(folder):
    return sorted(path.name for path in folder.rglob("*"))


@pytest.mark.parametrize("file", ORIGINALS)
def test_uci_archives_give_the_same_arrays_as_the_folder(file, server, data_home, tmp_path):
    serve_uci(server, data_home, file)
    folder = tmp_path / "data"
    place, verified = download.fetch_file(file, folder)
    assert place == f"{download.UCI}/{ORIGINALS[file].archive}"
    assert f"{loading.expected(file)['rows']} rows" in verified
    ours, theirs = (loading.read_stored(home / file) for home in (folder, data_home))
    np.testing.assert_array_equal(ours.values, theirs.values)
    assert ours.labels == theirs.labels
    assert ours.columns == theirs.columns
    assert left_over(folder) == [file]


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(
            file, marks=[pytest.mark.slow] * (file in {"optdigits_tra.csv", "spambase.csv"})
        )
        for file, original in ORIGINALS.items()
        if original.openml
    ],
)
def test_openml_gives_the_same_arrays_as_the_folder(file, server, data_home, tmp_path):
    extra = [["0"] * 64 + ["7"]] if file == "optdigits_tra.csv" else ()
    serve_openml(server, data_home, file, extra=extra)
    folder = tmp_path / "data"
    place, _ = download.fetch_file(file, folder)
    assert place == f"OpenML {ORIGINALS[file].openml}"
    ours, theirs = (loading.read_stored(home / file) for home in (folder, data_home))
    np.testing.assert_array_equal(ours.values, theirs.values)
    assert ours.labels == theirs.labels
    assert left_over(folder) == [file]


def test_load_fetches_what_is_missing_and_both_sources_agree(server, data_home, tmp_path):
    path = serve_uci(server, data_home, "iris.csv")
    online = load("iris", data_home=tmp_path)
    local = load("iris", data_home=data_home)
    np.testing.assert_array_equal(online.X, local.X)
    np.testing.assert_array_equal(online.y, local.y)
    assert online.source == local.source
    load("iris", data_home=tmp_path)
    assert server.asked == [path], "the second load reads the folder"


def test_load_fills_the_users_cache_without_a_folder(server, data_home, own_cache, monkeypatch):
    monkeypatch.delenv("LIKEWISE_DATA", raising=False)
    serve_uci(server, data_home, "iris.csv")
    assert load("iris").X.shape == (147, 4)
    assert left_over(own_cache / "data") == ["iris.csv"]


def test_what_is_there_and_right_is_not_fetched_again(server, data_home, tmp_path):
    shutil.copy(data_home / "iris.csv", tmp_path)
    assert download.fetch_file("iris.csv", tmp_path)[0] == "already there"
    assert server.asked == []


def test_a_damaged_file_is_replaced_by_fetching(server, data_home, tmp_path):
    serve_uci(server, data_home, "iris.csv")
    whole = (data_home / "iris.csv").read_bytes()
    (tmp_path / "iris.csv").write_bytes(whole[:1000])
    assert download.fetch_file("iris.csv", tmp_path)[0].startswith("http")
    assert load("iris", data_home=tmp_path, download=False).X.shape == (147, 4)


def test_a_cut_connection_leaves_nothing_and_the_next_call_starts_clean(
    server, data_home, tmp_path
):
    path = serve_uci(server, data_home, "iris.csv")
    server.cut.add(path)
    with pytest.raises(DatasetError, match=r"iris\.csv could not be fetched, and nothing was kept"):
        load("iris", data_home=tmp_path)
    assert left_over(tmp_path) == []
    server.cut.clear()
    assert load("iris", data_home=tmp_path).X.shape == (147, 4)


def test_a_connection_cut_at_uci_is_made_good_by_openml(server, data_home, tmp_path):
    server.cut.add(serve_uci(server, data_home, "wine.csv"))
    serve_openml(server, data_home, "wine.csv")
    assert download.fetch_file("wine.csv", tmp_path)[0] == "OpenML 187"


def test_a_connection_cut_at_openml_leaves_nothing(server, data_home, tmp_path):
    serve_openml(server, data_home, "wine.csv")
    server.cut.add("/openml/file/187.arff")
    with pytest.raises(DatasetError, match="OpenML 187"):
        download.fetch_file("wine.csv", tmp_path)
    assert left_over(tmp_path) == []


def test_a_wrong_checksum_at_openml_is_refused(server, data_home, tmp_path):
    serve_openml(server, data_home, "wine.csv")
    name = "/openml/file/187.arff"
    server.files[name] = server.files[name].replace(b"14.23", b"14.24")
    with pytest.raises(DatasetError, match=r"OpenML 187: .*(md5|checksum)"):
        download.fetch_file("wine.csv", tmp_path)
    assert left_over(tmp_path) == []


def test_changed_values_in_an_archive_are_refused(server, data_home, tmp_path):
    path = serve_uci(server, data_home, "glass.csv")
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(server.files[path])) as old,
        zipfile.ZipFile(buffer, "w") as new,
    ):
        text = old.read("folder/glass.data").replace(b"1.52101", b"1.52102")
        new.writestr("glass.data", text)
    server.files[path] = buffer.getvalue()
    with pytest.raises(DatasetError, match=r"digest .* instead of"):
        download.fetch_file("glass.csv", tmp_path)
    assert left_over(tmp_path) == []


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"<html>maintenance</html>", "not a zip file"),
        (None, "404"),
    ],
)
def test_an_answer_that_is_no_archive_is_refused(content, says, server, tmp_path):
    if content is not None:
        server.files["/uci/42/glass+identification.zip"] = content
    with pytest.raises(DatasetError, match=says):
        download.fetch_file("glass.csv", tmp_path)
    assert left_over(tmp_path) == []


def test_an_archive_without_the_file_is_refused(server, tmp_path):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("other.data", "1,2\n")
    server.files["/uci/42/glass+identification.zip"] = buffer.getvalue()
    with pytest.raises(DatasetError, match=r"does not hold glass\.data"):
        download.fetch_file("glass.csv", tmp_path)


def test_a_line_that_is_no_row_is_named():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("iris.data", "1,2,3,4,a\n1,2,3\n")
    with pytest.raises(DatasetError, match=r"iris\.data, line 2"):
        originals.convert_table(buffer, ORIGINALS["iris.csv"], list("abcd"))


def full_disk(*args, **kwargs):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("moment", ["download", "candidate", "write", "rename"])
def test_a_full_disk_leaves_nothing_and_the_next_call_starts_clean(
    moment, server, data_home, tmp_path, monkeypatch
):
    serve_uci(server, data_home, "glass.csv")
    with monkeypatch.context() as broken:
        if moment == "download":
            import requests

            whole = requests.Response.iter_content

            def one_piece_and_no_more(self, chunk_size):
                yield next(whole(self, 100))
                full_disk()

            broken.setattr(requests.Response, "iter_content", one_piece_and_no_more)
        elif moment == "candidate":
            broken.setattr("pathlib.Path.write_bytes", full_disk)
        elif moment == "write":
            broken.setattr("likewise.files.os.fsync", full_disk)
        else:
            broken.setattr("likewise.files.os.replace", full_disk)
        with pytest.raises(DatasetError, match="No space left on device"):
            download.fetch_file("glass.csv", tmp_path)
    assert left_over(tmp_path) == []
    download.fetch_file("glass.csv", tmp_path)
    assert load("glass", data_home=tmp_path, download=False).X.shape == (213, 9)


def test_a_full_disk_keeps_the_file_that_was_there(server, data_home, tmp_path, monkeypatch):
    serve_uci(server, data_home, "glass.csv")
    (tmp_path / "glass.csv").write_text("not whole")
    monkeypatch.setattr("likewise.files.os.replace", full_disk)
    with pytest.raises(DatasetError, match="No space left"):
        download.fetch_file("glass.csv", tmp_path)
    assert left_over(tmp_path) == ["glass.csv"]
    assert (tmp_path / "glass.csv").read_text() == "not whole"


def test_a_folder_that_cannot_be_made_is_named(server, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DatasetError, match="cannot be written"):
        download.fetch_file("iris.csv", tmp_path / "file" / "data")


def test_without_pooch_the_command_is_named(server, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingExtraError, match=r"likewise\[data\]"):
        load("iris", data_home=tmp_path)
    assert left_over(tmp_path) == []


def test_the_files_are_fetched_one_after_another_and_finished_ones_stay(
    server, data_home, tmp_path
):
    serve_uci(server, data_home, "iris.csv")
    download.fetch_file("iris.csv", tmp_path)
    with pytest.raises(DatasetError):
        download.fetch_file("glass.csv", tmp_path)
    assert left_over(tmp_path) == ["iris.csv"]
    serve_uci(server, data_home, "glass.csv")
    asked = len(server.asked)
    assert download.fetch_file("iris.csv", tmp_path)[0] == "already there"
    download.fetch_file("glass.csv", tmp_path)
    assert server.asked[asked:] == ["/uci/42/glass+identification.zip"]


@pytest.fixture(scope="module")
def faces_archive(data_home):
    """UCI's archive: a zip with a tar.gz of the pictures in it."""
    inner = io.BytesIO()
    with (
        zipfile.ZipFile(data_home / "cmu_faces.zip") as pictures,
        tarfile.open(fileobj=inner, mode="w:gz", compresslevel=1) as tar,
    ):
        for name in pictures.namelist():
            content = pictures.read(name)
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("faces.tar.gz", inner.getvalue())
        archive.writestr("faces.data.html", "<html></html>")
    return buffer.getvalue()


@pytest.mark.slow
def test_the_archive_of_pictures_gives_the_same_arrays_as_the_folder(
    server, faces_archive, data_home, tmp_path
):
    server.files[f"/uci/{originals.FACES_ARCHIVE}"] = faces_archive
    online = load("faces-pose", data_home=tmp_path, features="pixels")
    local = load("faces-pose", data_home=data_home, features="pixels")
    np.testing.assert_array_equal(online.X, local.X)
    np.testing.assert_array_equal(online.y, local.y)
    np.testing.assert_array_equal(online.images, local.images)
    np.testing.assert_array_equal(online.ids, local.ids)
    assert left_over(tmp_path) == ["cmu_faces.npz"]


@pytest.mark.slow
def test_a_cut_archive_of_pictures_leaves_nothing(server, faces_archive, tmp_path):
    path = f"/uci/{originals.FACES_ARCHIVE}"
    server.files[path] = faces_archive
    server.cut.add(path)
    with pytest.raises(DatasetError, match=r"cmu_faces\.npz could not be fetched"):
        load("faces-pose", data_home=tmp_path)
    server.cut.clear()
    server.files[path] = faces_archive[: len(faces_archive) // 2]
    with pytest.raises(DatasetError, match=r"cmu_faces\.npz could not be fetched"):
        load("faces-pose", data_home=tmp_path)
    assert left_over(tmp_path) == []


def tiny_archive(names):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, b"P5\n# a remark\n2 1\n200\n\x05\xc8")
    return buffer


def test_pictures_of_an_archive_are_read_with_their_labels():
    name = "faces/bpm_up_sad_open"
    faces = originals.convert_faces(
        tiny_archive([f"{name}.pgm", f"{name}_2.pgm", f"{name}_4.pgm", "faces/x_left.bad"])
    )
    assert faces.names.tolist() == ["bpm_up_sad_open"]
    assert (faces.person[0], faces.pose[0], faces.expression[0], faces.eyes[0]) == (
        "bpm",
        "up",
        "sad",
        "open",
    )
    assert faces.full.tolist() == [[[5, 200]]]
    assert faces.maxval.tolist() == [200]


def test_an_archive_that_lacks_pictures_is_refused():
    with pytest.raises(DatasetError, match="lacks 1 picture of scale 2"):
        originals.convert_faces(tiny_archive(["bpm_up_sad_open.pgm"]))
    with pytest.raises(DatasetError, match="no pictures"):
        originals.convert_faces(tiny_archive([]))


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"GIF89a", "not a PGM"), (b"P2\n2 2\n9\n1 2 3", "cut"), (b"P5\n1 1\n65535\n11", "8 bits")],
)
def test_a_damaged_picture_is_refused(content, says):
    with pytest.raises(DatasetError, match=says):
        originals.read_pgm(content, "a.pgm")


def newsgroups_archive(messages):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as tar:
        for message in messages:
            content = message.text.encode("latin-1")
            member = tarfile.TarInfo(
                f"20news-bydate-{message.split}/{message.newsgroup}/{message.id}"
            )
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def serve_newsgroups(server, content, monkeypatch, checksum=None):
    from sklearn.datasets import _twenty_newsgroups
    from sklearn.datasets._base import RemoteFileMetadata

    server.files["/news.tar.gz"] = content
    archive = RemoteFileMetadata(
        filename="20news-bydate.tar.gz",
        url=f"{server.url}/news.tar.gz",
        checksum=checksum or hashlib.sha256(content).hexdigest(),
    )
    monkeypatch.setattr(_twenty_newsgroups, "ARCHIVE", archive)


def expect(messages, monkeypatch):
    facts = {"files": {"newsgroups20.jsonl.gz": message_facts(messages)}}
    monkeypatch.setattr(loading, "expectations", lambda: facts)


@pytest.fixture
def few_messages(monkeypatch):
    messages = [
        Message(group, str(number), split, f"From: a\n\nwords \xe9 of {group}\r\n")
        for group in ("alt.atheism", "sci.space")
        for number, split in enumerate(("test", "train"))
    ]
    expect(messages, monkeypatch)
    return messages


def test_messages_come_by_scikit_learn(server, few_messages, tmp_path, monkeypatch):
    serve_newsgroups(server, newsgroups_archive(few_messages), monkeypatch)
    place, verified = download.fetch_file("newsgroups20.jsonl.gz", tmp_path)
    assert place == "scikit-learn fetch_20newsgroups"
    assert verified.startswith("4 rows, 2 classes")
    assert read_messages(tmp_path / "newsgroups20.jsonl.gz") == few_messages
    assert left_over(tmp_path) == ["newsgroups20.jsonl.gz"]


def test_messages_with_a_wrong_checksum_leave_nothing(server, few_messages, tmp_path, monkeypatch):
    content = newsgroups_archive(few_messages)
    serve_newsgroups(server, content, monkeypatch, checksum="0" * 64)
    with pytest.raises(DatasetError, match=r"(?i)sha256|checksum"):
        download.fetch_file("newsgroups20.jsonl.gz", tmp_path)
    assert left_over(tmp_path) == []


def test_messages_over_a_cut_connection_leave_nothing(server, few_messages, tmp_path, monkeypatch):
    serve_newsgroups(server, newsgroups_archive(few_messages), monkeypatch)
    server.cut.add("/news.tar.gz")
    with pytest.raises(DatasetError, match="could not be fetched, and nothing was kept"):
        download.fetch_file("newsgroups20.jsonl.gz", tmp_path)
    assert left_over(tmp_path) == []
    server.cut.clear()
    assert download.fetch_file("newsgroups20.jsonl.gz", tmp_path)[1].startswith("4 rows")


def test_a_missing_message_is_told(server, few_messages, tmp_path, monkeypatch):
    serve_newsgroups(server, newsgroups_archive(few_messages[1:]), monkeypatch)
    with pytest.raises(DatasetError, match=r"class 'alt\.atheism' has 1 rows instead of 2"):
        download.fetch_file("newsgroups20.jsonl.gz", tmp_path)


@pytest.mark.slow
def test_messages_of_all_groups_are_the_same_as_in_the_folder(
    server, data_home, tmp_path, monkeypatch
):
    messages = read_messages(data_home / "newsgroups20.jsonl.gz")[::7]
    assert len({message.newsgroup for message in messages}) == 20
    expect(messages, monkeypatch)
    serve_newsgroups(server, newsgroups_archive(reversed(messages)), monkeypatch)
    download.fetch_file("newsgroups20.jsonl.gz", tmp_path)
    ours = read_messages(tmp_path / "newsgroups20.jsonl.gz")
    assert ours == sorted(messages, key=lambda m: (m.newsgroup, m.split, m.id))


def test_a_cut_file_of_messages_is_refused(tmp_path):
    path = tmp_path / "newsgroups20.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"newsgroup": "a"}\n' * 100)[:-12])
    with pytest.raises(DatasetError, match="cannot be read"):
        load("newsgroups-sim3", data_home=tmp_path)
