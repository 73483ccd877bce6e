import runpy
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_a_session_stopped_in_the_middle_goes_on_another_day(tmp_path, capsys):
    main = runpy.run_path(str(EXAMPLES / "ask_and_tell.py"))["main"]
    main(tmp_path / "session.json")
    assert "enough for today - 20 answered" in capsys.readouterr().out
    main(tmp_path / "session.json")
    out = capsys.readouterr().out
    assert "going on: 20 answered" in out
    assert "done" in out


def test_a_wrong_answer_is_found_and_mended(capsys):
    runpy.run_path(str(EXAMPLES / "wrong_answers.py"))["main"]()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert float(lines[0].split()[-1]) < float(lines[2].split()[-1])


def test_every_example_is_tried():
    assert {path.name for path in EXAMPLES.glob("*.py")} == {"ask_and_tell.py", "wrong_answers.py"}
