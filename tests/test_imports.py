"""What is imported when: nobody waits for packages that are not used."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

import likewise
from likewise.cli import COMMANDS, main

HEAVY = (
    "hypothesis", "joblib", "matplotlib", "numpy", "pandas", "PIL", "pyarrow", "pytest", "scipy",
    "sklearn", "sqlite3", "starlette", "torch", "uvicorn",
)  # fmt: skip


def python(code: str) -> str:
    """Run code in an interpreter of its own and return what it prints."""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def heavy_after(code: str) -> list[str]:
    """Return the heavy packages that are loaded after some code."""
    end = f"import sys; print('loaded:', *[m for m in {HEAVY!r} if m in sys.modules])"
    return python(f"{code}\n{end}").rpartition("loaded:")[2].split()


@pytest.mark.parametrize(
    "code",
    [
        "import likewise",
        "from likewise import LikewiseError",
        "import likewise.cli",
        "from likewise.cli import main; main(['--help'], standalone_mode=False)",
        "from likewise.cli import main; main(['--version'], standalone_mode=False)",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_used(code):
    assert heavy_after(code) == []


def test_no_scikit_learn_is_imported_for_questions_about_a_table(tmp_path):
    path = tmp_path / "rows.csv"
    lines = (f"{k % 7},{k * k % 11}" for k in range(40))
    path.write_text("\n".join(["a,b", *lines]), encoding="utf-8")
    code = f"""
from likewise import Answer
from likewise.project import open_project
project = open_project({str(path)!r}, questions="pairs").project
for _ in range(5):
    project.tell(Answer.DIFFERENT, number=project.ask().number, position=project.position)
assert project.ask() is not None
"""
    assert not {"sklearn", "pandas"} & set(heavy_after(code))


def test_every_public_name_is_found_and_no_other():
    for name in likewise.__all__:
        assert getattr(likewise, name).__name__ == name
    assert sorted(likewise.__all__) == sorted(sum(likewise._HOMES.values(), ()))
    assert set(likewise.__all__) <= set(dir(likewise))
    with pytest.raises(AttributeError, match="no attribute 'Cobra'"):
        likewise.Cobra  # noqa: B018


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--help"], ["label", "--help"], ["bench", "--help"]])
def test_the_commands_work_where_there_is_no_module_resource(words):
    code = f"""
import sys
sys.modules["resource"] = None  # as on Windows
from likewise.cli import main
main({words!r}, prog_name="likewise")
"""
    assert python(code).startswith("Usage: likewise")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_each_command_says_of_itself(name):
    shown = CliRunner().invoke(main, [name, "--help"]).output
    assert " ".join(COMMANDS[name].split()) in " ".join(shown.split())


@pytest.mark.slow
def test_a_small_table_is_labeled_and_exported_without_scikit_learn(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    table = tmp_path / "t.csv"
    table.write_text("a,b\n" + "\n".join(f"{k},{k % 7}" for k in range(6)))
    session = tmp_path / "t.csv.likewise"
    label, go_on = (
        f"""
import io, sys
from likewise.cli import main
sys.stdin = io.StringIO({keys!r})
main(["label", {str(table)!r}, "--terminal"], standalone_mode=False)
"""
        for keys in ("s\n0\nq\n", "u\nq\n")
    )
    export = f"""
from likewise.cli import main
main(["export", {str(session)!r}, "-o", {str(tmp_path / "groups.csv")!r}], standalone_mode=False)
"""
    for code in (label, go_on, export):
        assert set(heavy_after(code)) <= {"joblib", "numpy", "scipy", "sqlite3"}


def test_the_laws_say_what_they_need():
    code = """
import sys
sys.modules["hypothesis"] = None
try:
    import likewise.testing
except ImportError as error:
    print(error)
"""
    assert 'pip install "likewise[testing]"' in python(code)
