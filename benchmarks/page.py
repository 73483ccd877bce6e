"""The page: from a key to the next question on the screen, mending, the first question, the weight.

Key to paint is also given over that of an empty page, measured in the same run by the same clock.
Needs Chromium and the packages of the group `browser`.
"""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks._results import save
from benchmarks.answers import body_of
from likewise.strategies import ClosestFirst
from likewise.web.links import read_leading

N_PRESSES = 40
THINKING_MS = 350
PATIENCE_MS = 120_000
LEVELS = (10, 1000)
N_SUPER_INSTANCES = 1000
N_GROUPS = 220
"""So many groups take more than 1000 answers to tell apart."""

N_SEEN_GROUPS = 60
"""So many groups are offered at once."""
N_COLUMNS = 100
MOST_TO_MEET = 600
"""No more answers are given before all groups are there."""

N_MENDED = 5000
N_FEATURES = (16, 1280)
N_TIMES = 5

CHROMIUM = os.environ.get("LIKEWISE_CHROMIUM", "/usr/bin/chromium")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]

TIMING = """() => {
  window.waits = [];
  let pressed = null;
  addEventListener("keydown", () => (pressed = performance.now()), true);
  const painted = () => {
    const images = [...document.querySelectorAll("#pair img")];
    if (!images.every((i) => i.complete && i.naturalWidth)) {
      requestAnimationFrame(painted);
      return;
    }
    // What is in the document at one frame is on the screen at the next.
    requestAnimationFrame(() => requestAnimationFrame(() => {
      document.body.dataset.waits = window.waits.push(performance.now() - pressed);
    }));
  };
  new MutationObserver(painted).observe(document.body, { attributeFilter: ["data-position"] });
}"""
EMPTY = """() => {
  let n = 0;
  addEventListener("keydown", () => (document.body.dataset.position = ++n));
}"""


class Choices(ClosestFirst):
    """Ask to which of the groups so far the next representative belongs, six at a time.

    `Likewise` asks about at most 200 rows; this goes on for thousands of answers.
    """

    name = "choices-of-the-benchmark"

    def next_question(self, answers):
        """Return the next row beside six of the groups that earlier rows are in."""
        links, heads = answers.links, {}
        for row in self.partition.representatives.tolist():
            root = links.find(row)
            unknown = [head for head in heads if links.implied(row, head) is None]
            if unknown and root not in heads:
                return row, tuple((head,) for head in unknown[:6])
            heads[root] = None
        return None


def start(*options, command=("label", "--port", "0")):
    """Run a command until it says its address; return the process and the address."""
    program = "from likewise.cli import main; main()"
    command = [sys.executable, "-c", program, *command, "--no-browser"]
    process = subprocess.Popen(
        [*command, *map(str, options)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    # Other lines come before that of the file which has the token.
    leading = next(line for line in process.stdout if line.startswith("file:"))
    return process, read_leading(leading.strip())


def stop(process):
    process.terminate()
    process.wait()
    process.stdout.close()


def make_pictures(folder, truth, size=(320, 320)):
    from PIL import Image

    rng = np.random.default_rng(0)
    folder.mkdir()
    colors = rng.integers(0, 255, (N_GROUPS, 3))
    for k, group in enumerate(truth):
        small = np.clip(colors[group] + rng.normal(0, 30, (12, 12, 3)), 0, 255).astype("uint8")
        Image.fromarray(small).resize(size).save(folder / f"{k:04d}.jpg")


def answer_until(project, truth, n):
    from likewise.page.shapes import chosen

    while len(project.session.events) < n:
        body = body_of(project.ask(), truth, project.position)
        project.choose(chosen(body["chosen"]), number=body["question"], position=body["position"])


def cpu_ms(project, n=50):
    """Return what the open question and those that may follow cost the server."""
    from likewise.page import shapes

    began = time.process_time()
    for _ in range(n):
        json.dumps(shapes.state(project))
        json.dumps(shapes.ahead(project))
    return (time.process_time() - began) / n * 1000


@contextmanager
def served(project):
    """Serve a project; yield the address."""
    from likewise.web.app import Readiness
    from likewise.web.serving import prepare

    serving = prepare(Readiness("benchmark", project), port=0)
    thread = threading.Thread(target=serving.run)
    thread.start()
    try:
        yield serving.address
    finally:
        serving.server.should_exit = True
        thread.join()


@contextmanager
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


def empty_page(browser):
    """Return how long a key takes to show on a page that does nothing else."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.evaluate(TIMING)
    page.evaluate(EMPTY)
    for k in range(N_PRESSES):
        page.wait_for_timeout(THINKING_MS)
        page.keyboard.press("s")
        page.wait_for_selector(f"body[data-waits='{k + 1}']")
    waits = page.evaluate("window.waits")
    page.close()
    return waits


def paint_rows(what, waits, empty):
    """Return the rows about one kind of waits."""
    p50, p95 = np.percentile(waits, [50, 95])
    return [
        row(f"key to paint, {what}", "ms, p95", p95, 100),
        row(f"key to paint, {what}", "ms, median", p50, 100),
        row(
            f"key to paint, {what}",
            "p95, times an empty page's",
            p95 / np.percentile(empty, 95),
            "",
        ),
    ]


def keys_to_paint(work):
    from likewise.core.session import Session
    from likewise.items import open_items
    from likewise.project import Project, open_project
    from likewise.rows import build_super_instances
    from likewise.store import Store

    rng = np.random.default_rng(1)
    truth = np.arange(2000) % N_GROUPS
    centers = rng.normal(size=(N_GROUPS, 32))
    np.save(work / "features.npy", centers[truth] + 0.2 * rng.normal(size=(2000, 32)))
    make_pictures(work / "photos", truth)
    options = {"features": str(work / "features.npy")}
    items = open_items(work / "photos", **options)
    partition = build_super_instances(items.features().X, N_SUPER_INSTANCES, seed=0)
    projects = {
        way: Project(
            Session(strategy(partition), sample_ids=items.ids),
            items,
            Store.create(work / f"{way}.likewise", items=items.content_hashes()),
        )
        for way, strategy in (("pairs", ClosestFirst), ("choices", Choices))
    }
    with chromium() as browser:
        empty = empty_page(browser)
        rows = [row("key to paint, empty page", "ms, p95", np.percentile(empty, 95), "")]
        for way, project in projects.items():
            for level in LEVELS:
                answer_until(project, truth, level)
                what = f"{way} after {level} answers"
                rows.append(row(f"server, {what}", "ms of CPU", cpu_ms(project), ""))
                with served(project) as address:
                    rows += paint_rows(what, press_keys(browser, address, truth), empty)
            project.close()
        for way in ("pairs", "choices"):
            session = work / f"likewise-{way}.likewise"
            opened = open_project(work / "photos", questions=way, options=options, session=session)
            answer_until(opened.project, truth, 10)
            with served(opened.project) as address:
                waits = press_keys(browser, address, truth)
            rows += paint_rows(f"{way} of Likewise after 10 answers", waits, empty)
            opened.project.close()
    return rows


def many_groups(work):
    """Choices among 60 groups of `Likewise`: of 2000 pictures, and of rows with 100 columns."""
    from likewise.project import open_project

    rng = np.random.default_rng(5)
    truth = np.arange(2000) % N_SEEN_GROUPS
    points = rng.normal(size=(N_SEEN_GROUPS, N_COLUMNS))[truth]
    points += 0.2 * rng.normal(size=points.shape)
    np.save(work / "sixty.npy", points[:, :32])
    make_pictures(work / "sixty", truth)
    names = ",".join(f"column {k}" for k in range(N_COLUMNS))
    np.savetxt(work / "wide.csv", points, "%.4f", ",", header=names, comments="")
    sources = {
        "2000 pictures": (work / "sixty", {"features": str(work / "sixty.npy")}),
        f"rows of {N_COLUMNS} columns": (work / "wide.csv", {}),
    }
    rows = []
    with chromium() as browser:
        empty = empty_page(browser)
        for what, (path, options) in sources.items():
            project = open_project(path, questions="choices", options=options).project
            answer_until(project, truth, 2)
            while len(project.ask().groups) < N_SEEN_GROUPS:
                answer_until(project, truth, len(project.session.events) + 1)
                assert len(project.session.events) < MOST_TO_MEET
            with served(project) as address:
                waits = press_keys(browser, address, truth)
            rows += paint_rows(f"{what} in {N_SEEN_GROUPS} groups", waits, empty)
            project.close()
    return rows


def to_page(work):
    """From a command to the page, and to the first question, in a browser that runs already."""
    if not (work / "wide.csv").exists():
        (work / "wide.csv").write_text("x,y\n" + "".join(f"{k % 7},{k}\n" for k in range(2000)))
    commands = {
        "the demo": {"command": ("demo",)},
        "2000 rows": {"command": ("label", str(work / "wide.csv"), "--port", "0")},
    }
    rows = []
    with chromium() as browser:
        for what, command in commands.items():
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            began = time.perf_counter()
            process, address = start(**command)
            page.goto(address)
            page.locator("h1:visible").wait_for(timeout=PATIENCE_MS)
            rows.append(row(f"from the command to the page, {what}", "s", since(began), 2))
            page.wait_for_selector("body[data-view]", timeout=PATIENCE_MS)
            rows.append(row(f"from the command to a question, {what}", "s", since(began), ""))
            page.close()
            stop(process)
    return rows


def since(began):
    return time.perf_counter() - began


def mending(work):
    """CPU of the server for every gesture, with features as of tables and as of pictures."""
    return [row for n_features in N_FEATURES for row in _mending(work, n_features)]


def _mending(work, n_features):
    from likewise.page.calls import reply_to
    from likewise.project import open_project

    rng = np.random.default_rng(4)
    truth = rng.integers(0, 8, N_MENDED)
    # As far apart with many features as with few.
    centers = 12 / np.sqrt(n_features) * rng.normal(size=(8, n_features))
    path = work / f"many-{n_features}.npy"
    np.save(path, centers[truth] + rng.normal(size=(N_MENDED, n_features)))
    project = open_project(path).project
    answer_until(project, truth, 30)

    def call(address, body=None):
        began = time.process_time()
        request = None if body is None else {"position": project.position, **body}
        status, reply = reply_to(project, address, request)
        assert status == 200, reply
        return (time.process_time() - began) * 1000, reply

    took: dict[str, list[float]] = {}
    for k in range(N_TIMES):
        first, second = [g["id"] for g in call("groups?limit=500")[1]["groups"]][:2]
        took.setdefault("open a group", []).append(call(f"group/{first}?limit=100")[0])
        members = call(f"group/{first}?order=doubt&limit=24")[1]["members"]
        rows = [thing["row"] for thing in members]
        split, reply = call(f"group/{first}/parts")
        took.setdefault("show two parts", []).append(split)
        parts = [[thing["row"] for thing in part["shown"]] for part in reply["parts"]]
        gestures = {
            "move": {"rows": rows[k : k + 6], "to": "new"},
            "merge": {"groups": [first, second]},
            "split": {"parts": parts},
            "confirm": {"group": first, "right": rows[4:], "wrong": rows[:4]},
            "misfit": {"row": rows[k]},
        }
        for name, body in gestures.items():
            took.setdefault(name, []).append(call(name, body)[0])
            took.setdefault("the groups again", []).append(call("groups?limit=60")[0])
            call("undo", {})
    project.close()
    what = f"{N_MENDED} items of {n_features} features, the slowest"
    return [row(f"{name}, {what}", "ms of CPU", max(times), 200) for name, times in took.items()]


def large_photos(work):
    """The same with photos of 12 megapixels, from the first question on."""
    from likewise.items import open_items
    from likewise.project import open_project

    truth = np.arange(40) % 8
    rng = np.random.default_rng(3)
    np.save(work / "large.npy", rng.normal(size=(8, 16))[truth] + rng.normal(size=(40, 16)))
    make_pictures(work / "large", truth, (4000, 3000))
    items = open_items(work / "large", encoder="layout")
    began = time.perf_counter()
    for i in range(10):
        items.thumbnail(i, 1024)
    rows = [row("a thumbnail of 12 megapixels", "ms", (time.perf_counter() - began) * 100, "")]
    options = {"features": str(work / "large.npy")}
    project = open_project(work / "large", questions="pairs", options=options).project
    with chromium() as browser, served(project) as address:
        waits = press_keys(browser, address, truth, 20)
        rows += paint_rows("12 megapixels", waits, empty_page(browser))
    project.close()
    return rows


def press_keys(browser, address, truth, n=N_PRESSES):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(address)
    page.wait_for_selector("#pair :is(.frame img, td)")
    page.evaluate(TIMING)
    for k in range(n):
        page.wait_for_timeout(THINKING_MS)
        asked = page.evaluate("fetch('api/query').then(r => r.json())")["question"]
        if asked is None:
            break
        page.keyboard.type(right_key(asked, truth))
        page.wait_for_selector(f"body[data-waits='{k + 1}']")
    waits = page.evaluate("window.waits")
    page.close()
    return waits


def right_key(asked, truth):
    """Return the key that a person who knows the truth presses."""
    if asked["kind"] == "pair":
        return "s" if truth[asked["left"]["row"]] == truth[asked["right"]["row"]] else "d"
    own = truth[asked["item"]["row"]]
    keys = {truth[group["shown"][0]["row"]]: group["key"] for group in asked["groups"]}
    return keys.get(own, "0")


def first_questions(work):
    """From the command to the first question about pictures, with every kind of features."""
    make_pictures(work / "small", np.arange(500) % 20, (128, 128))
    os.environ["XDG_CACHE_HOME"] = str(work / "cache")  # no features from earlier runs
    rows = []
    for features in ("efficientnet-lite0", "layout"):
        what = f"first question of 500 small pictures, {features}"
        options = ("--encoder", features, "--session", work / f"{features}.likewise")
        rows += first_question(what, 10, work / "small", *options)
    again = ("--session", work / "again.likewise")
    rows += first_question("the same, begun again with features kept", 10, work / "small", *again)
    return rows


def first_question(what, limit, *command):
    took, cpu = to_first_question(*command)
    return [row(what, "s", took, limit), row(what, "s of CPU, start and end", cpu, "")]


def to_first_question(*command):
    """Return the seconds from a command to its first question, and the CPU with that of ending."""
    began = time.perf_counter()
    process, address = start(*map(str, command))
    home, token = re.match(r"(http://[^/]+)/\?token=(.+)", address).groups()
    request = urllib.request.Request(
        f"{home}/api/query", headers={"authorization": f"Bearer {token}"}
    )
    while not is_there(request):
        time.sleep(0.05)
    took = time.perf_counter() - began
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    stop(process)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took, cpu


def is_there(request):
    """Return whether a server replies; until the session is open it says that it is not."""
    try:
        with urllib.request.urlopen(request) as reply:
            reply.read()
    except urllib.error.HTTPError as error:
        with error:
            if error.code != 503:
                raise
        return False
    return True


def weight():
    from likewise.page.document import STATIC, TEMPLATE

    files = [TEMPLATE, *STATIC.iterdir()]
    return [row("page without items", "kB", sum(f.stat().st_size for f in files) / 1000, 220)]


def row(what, unit, value, limit):
    load = os.getloadavg()[0]
    return {
        "what": what,
        "unit": unit,
        "value": round(float(value), 1),
        "limit": limit,
        "load of the machine": round(load, 1),
    }


def main(names=()):
    """Measure all parts, or those with some names, which are shown and not kept."""
    parts = (mending, keys_to_paint, many_groups, large_photos, to_page, first_questions)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        os.environ["XDG_CACHE_HOME"] = str(work / "cache")
        rows = weight()
        # Written after every part, so nothing is lost when a run is interrupted.
        for part in parts:
            if part.__name__ in names:
                print(*part(work), sep="\n")
            elif not names:
                rows += part(work)
                save("page", rows)


if __name__ == "__main__":
    main(sys.argv[1:])
