import io
import shutil
import zipfile

from click.testing import CliRunner

from likewise.cli import main
from likewise.lab.datasets import download, task_names


def run(*args):
    return CliRunner().invoke(main, ["data", *map(str, args)])


def test_list_is_an_aligned_table_of_all_tasks(tmp_path):
    (tmp_path / "wine.csv").write_text("")
    result = run("list", "--data-home", tmp_path)
    assert result.exit_code == 0
    table, _, rest = result.output.partition("\n\n")
    lines = table.splitlines()
    assert " ".join(lines[0].split()) == "task rows features classes from present license"
    assert [line.split()[0] for line in lines[1:]] == task_names()
    assert " ".join(lines[1].split()) == "iris 147 4 3 UCI 53 no CC BY 4.0"
    assert " ".join(lines[2].split()) == "wine 178 13 3 UCI 109 yes CC BY 4.0"
    assert "3840*" in lines[16]
    assert len({line.index("UCI") for line in lines if "UCI" in line}) == 1
    assert "* as pixels; 2048 by inception-v3, 1280 by efficientnet-lite2" in rest
    assert str(tmp_path) in rest


def test_list_reads_the_folder_of_the_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("LIKEWISE_DATA", str(tmp_path))
    assert f"folder: {tmp_path}" in run("list").output


def test_fetch_checks_what_is_there_and_says_so(data_home, tmp_path):
    shutil.copy(data_home / "iris.csv", tmp_path)
    result = run("fetch", "iris", "--data-home", tmp_path)
    assert result.exit_code == 0
    assert "already there; verified 150 rows, 4 features, 3 classes, digest" in result.output


def archive_of_iris(data_home):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("iris.data", (data_home / "iris.csv").read_text())
    buffer.seek(0)
    return buffer


def test_fetch_brings_what_is_missing(data_home, tmp_path, monkeypatch):
    def pretend(url, scratch):
        return archive_of_iris(data_home)

    monkeypatch.setattr(download, "_archive", pretend)
    result = run("fetch", "iris", "--data-home", tmp_path)
    assert result.exit_code == 0, result.output
    assert "iris.csv: https://archive.ics.uci.edu/static/public/53/iris.zip" in result.output
    assert "verified 150 rows" in result.output
    assert (tmp_path / "iris.csv").is_file()


def test_fetch_goes_on_after_a_failure_and_counts_it(data_home, tmp_path, monkeypatch):
    def pretend(url, scratch):
        if "iris" in url:
            return archive_of_iris(data_home)
        raise OSError("no network")

    monkeypatch.setattr(download, "_archive", pretend)
    result = run("fetch", "glass", "iris", "--data-home", tmp_path)
    assert result.exit_code == 1
    assert "no network" in result.output
    assert "1 of 2 files could not be fetched" in result.output
    assert (tmp_path / "iris.csv").is_file()
    assert not (tmp_path / "glass.csv").exists()


def test_fetch_asks_once_for_a_file_that_several_tasks_share(data_home, tmp_path):
    shutil.copy(data_home / "cmu_faces.npz", tmp_path)
    result = run("fetch", "faces-pose", "faces-eyes", "--data-home", tmp_path)
    assert result.exit_code == 0
    assert result.output.count("verified") == 1


def test_fetch_of_an_unknown_task_fetches_nothing(tmp_path):
    result = run("fetch", "iris", "irises", "--data-home", tmp_path)
    assert result.exit_code == 1
    assert "There is no task 'irises'" in result.output
    assert list(tmp_path.iterdir()) == []
