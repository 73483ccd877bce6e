"""The widget in a real JupyterLab."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SOURCE = Path(__file__).parents[2] / "src"
PATIENCE = 120_000
DARK = "jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})"
# A cell that is run before the kernel has said hello is not run at all.
CONNECTED = """async () => {
  const { sessionContext } = jupyterapp.shell.currentWidget;
  await sessionContext.ready;
  await sessionContext.session.kernel.info;
}"""
CELLS = [
    "from likewise import COBRA\n"
    "session = COBRA(4).start([[0.0], [0.1], [5.0], [5.2]])\n"
    "words = ['red', 'reddish', 'blue', 'bluish']",
    "session.widget(items=words, height=500)",
    "session.widget(items=words, height=500)",
    "",
]


@pytest.fixture
def lab(tmp_path):
    """The address of a JupyterLab that shows a notebook with a few cells."""
    pytest.importorskip("anywidget", reason='pip install "likewise[notebook]"')
    pytest.importorskip("jupyterlab", reason="pip install jupyterlab")
    folder = tmp_path / "work"
    folder.mkdir()
    cell: dict[str, Any] = {"cell_type": "code", "execution_count": None}
    cell |= {"metadata": {}, "outputs": []}
    cells = [{**cell, "id": f"cell-{k}", "source": code} for k, code in enumerate(CELLS)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (folder / "a.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    homes = (
        "IPYTHONDIR",
        "JUPYTER_CONFIG_DIR",
        "JUPYTER_DATA_DIR",
        "JUPYTER_RUNTIME_DIR",
        "JUPYTERLAB_SETTINGS_DIR",
        "JUPYTERLAB_WORKSPACES_DIR",
    )
    env = {**os.environ, **{name: str(tmp_path / name) for name in homes}}
    env["PYTHONPATH"] = str(SOURCE)
    options = ["--no-browser", "--allow-root", "--ServerApp.port=0", "--IdentityProvider.token="]
    options.append("--expose-app-in-browser")
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *options, f"--ServerApp.root_dir={folder}"],
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    )
    said = []
    for line in server.stderr:
        said.append(line)
        found = re.search(r"http://127\.0\.0\.1:\d+/lab", line)
        if found:
            break
    else:
        raise AssertionError("".join(said))
    # What it goes on to say is read, lest it waits for a reader.
    reader = subprocess.Popen(["cat"], stdin=server.stderr, stdout=subprocess.DEVNULL)
    yield f"{found[0]}/tree/a.ipynb"
    server.terminate()
    server.wait()
    reader.wait()
    server.stderr.close()


def test_two_widgets_in_jupyterlab(lab, chromium):
    from playwright.sync_api import Expect

    expect = Expect()
    expect.set_options(timeout=PATIENCE)
    page = chromium.new_context(viewport={"width": 1280, "height": 1600}).new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(lab)
    expect(page.get_by_role("contentinfo")).to_contain_text("| Idle")
    page.evaluate(CONNECTED)

    def run(k, code=None):
        """Run a cell, once it is there and the kernel takes it."""
        cell = page.locator(".jp-Notebook .jp-Cell").nth(k)
        cell.locator(".cm-content").click()
        if code is not None:
            page.keyboard.type(code)
        page.keyboard.press("Control+Enter")
        expect(cell.locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]:"))
        return cell

    run(0)
    run(1)
    run(2)
    first, second = (page.frame_locator("iframe").nth(k) for k in (0, 1))
    for frame in (first, second):
        expect(frame.locator("#ask-title")).to_be_visible()
    # The still picture, for those who read a saved notebook, is behind the widget.
    expect(page.locator("div[id^=likewise-]")).to_have_count(2)
    expect(page.locator("div[id^=likewise-]").first).to_be_hidden()

    # A key is an answer where the widget has the focus; the other widget follows.
    first.locator("#ask-title").click()
    page.keyboard.press("s")
    expect(first.locator("body")).to_have_attribute("data-position", "1")
    expect(second.locator("#undo")).to_be_enabled()
    # The letters s, d and u outside of it are only letters.
    expect(run(3, "'d', 'u', len(session.events)")).to_contain_text("('d', 'u', 1)")
    second.locator("#undo").click()
    expect(first.locator("#undo")).to_be_disabled()
    second.get_by_role("link", name="Groups", exact=True).click()
    expect(second.locator("#view-result .group").first).to_contain_text("red")
    # The session has what the page would let one download.
    expect(second.get_by_role("link", name="Download")).to_have_count(0)

    # Run again, the cell shows the session where it is.
    run(3, "; session.tell('same')")
    run(1)
    expect(page.frame_locator("iframe").nth(0).locator("#undo")).to_be_enabled()

    # Dark as the notebook is.
    expect(first.locator("html")).to_have_css("color-scheme", "light")
    page.evaluate(DARK)
    expect(first.locator("html")).to_have_css("color-scheme", "dark")
    page.context.close()
