import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_a_session_stopped_in_the_middle_goes_on_another_day(tmp_path, capsys):
    main = runpy.run_path(str(EXAMPLES / "ask_and_tell.py"))["main"]
    main(tmp_path / "session.json")
    assert "enough for today - 20 answers" in capsys.readouterr().out
    main(tmp_path / "session.json")
    out = capsys.readouterr().out
    assert "going on: 20 answers" in out
    assert "done" in out


def test_a_wrong_answer_is_found_and_mended(capsys):
    runpy.run_path(str(EXAMPLES / "wrong_answers.py"))["main"]()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert float(lines[0].split()[-1]) < float(lines[2].split()[-1])


RECIPES = {"bertopic": "bertopic", "splink": "splink", "dedupe": 'dedupe "BTrees<6.5"'}


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # theirs
@pytest.mark.parametrize("tool", RECIPES)
def test_groups_of_other_tools_are_mended_and_handed_back(tool, capsys):
    pytest.importorskip(tool, reason=f"pip install {RECIPES[tool]}")
    recipe = runpy.run_path(str(EXAMPLES / f"mend_{tool}.py"))
    handed_back = recipe["main"]()
    scores = [float(score) for score in re.findall(r"ARI ([\d.]+)", capsys.readouterr().out)]
    assert scores[0] < scores[1] == 1.0
    if tool == "bertopic":
        model, mended, _ = handed_back
        assert model.topics_ == mended.tolist()


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # theirs
@pytest.mark.parametrize("tool", ["splink", "dedupe"])
def test_a_person_completes_what_a_tool_for_entity_resolution_began(tool):
    pytest.importorskip(tool, reason=f"pip install {RECIPES[tool]}")
    curve = runpy.run_path(str(EXAMPLES / "entities.py"))["main"](tool)
    assert curve[-1][1] > max(0.98, curve[0][1])
    assert len(curve) < 200


GALLERY = sorted(EXAMPLES.glob("plot_*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_every_example_of_the_gallery_draws_a_picture(path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib", reason='pip install "likewise[plot]"')
    pytest.importorskip("PIL", reason='pip install "likewise[app]"')
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    drawn = []
    monkeypatch.setattr(plt, "show", lambda: drawn.append(plt.gcf().axes))
    runpy.run_path(str(path), run_name="__main__")
    plt.close("all")
    assert drawn
    assert all(drawn)


def test_the_gallery_is_large_enough_and_nothing_is_left_untried():
    assert len(GALLERY) >= 12
    others = {path.name for path in EXAMPLES.glob("*.py")} - {path.name for path in GALLERY}
    recipes = {f"mend_{tool}.py" for tool in RECIPES}
    assert others == {"ask_and_tell.py", "entities.py", "wrong_answers.py", *recipes}
