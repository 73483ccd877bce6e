"""The page: from a key to the next pair on the screen, the first question, the weight.

Needs Chromium and the packages of the group `browser`.
"""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import numpy as np

from benchmarks._results import save

N_PRESSES = 60
THINKING_MS = 350
LEVELS = (10, 1000, 10_000)
N_SUPER_INSTANCES = 1000
N_GROUPS = 220
"""So many groups take more than 10 000 answers to tell apart."""

CHROMIUM = os.environ.get("LIKEWISE_CHROMIUM", "/usr/bin/chromium")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]

TIMING = """() => {
  window.waits = [];
  let pressed = null;
  addEventListener("keydown", () => (pressed = performance.now()), true);
  const painted = () => {
    const images = [...document.querySelectorAll("#pair .frame img")];
    if (images.length < 2 || !images.every((i) => i.complete && i.naturalWidth)) {
      requestAnimationFrame(painted);
      return;
    }
    // What is in the document at one frame is on the screen at the next.
    requestAnimationFrame(() => requestAnimationFrame(() => {
      window.waits.push(performance.now() - pressed);
    }));
  };
  new MutationObserver(painted).observe(document.body, { attributeFilter: ["data-position"] });
}"""


def start(path, *options):
    """Run `likewise label` until it says its address; return the process and the address."""
    program = "from likewise.cli import main; main()"
    command = [sys.executable, "-c", program, "label", str(path), "--no-browser", "--port", "0"]
    process = subprocess.Popen(
        [*command, *map(str, options)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    return process, process.stdout.readline().strip()


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
    from likewise import Answer

    while len(project.session.events) < n:
        query = project.ask()
        is_same = truth[query.left] == truth[query.right]
        answer = Answer.SAME if is_same else Answer.DIFFERENT
        project.tell(answer, number=query.number, position=project.position)


def cpu_ms(project, n=50):
    """Return what the open question and the three that may follow cost the server."""
    from likewise.page import shapes

    began = time.process_time()
    for _ in range(n):
        json.dumps(shapes.state(project))
        json.dumps(shapes.ahead(project))
    return (time.process_time() - began) / n * 1000


def keys_to_paint(work):
    from playwright.sync_api import sync_playwright

    from likewise.project import open_project

    rng = np.random.default_rng(1)
    truth = np.arange(2000) % N_GROUPS
    centers = rng.normal(size=(N_GROUPS, 32))
    np.save(work / "features.npy", centers[truth] + 0.2 * rng.normal(size=(2000, 32)))
    make_pictures(work / "photos", truth)
    options = {"features": str(work / "features.npy")}
    opened = open_project(
        work / "photos", n_super_instances=N_SUPER_INSTANCES, options=options, seed=0
    )
    project = opened.project
    rows = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for level in LEVELS:
            answer_until(project, truth, level)
            rows.append(row(f"server, questions after {level}", "ms of CPU", cpu_ms(project), ""))
            process, address = start(work / "photos")
            try:
                waits = press_keys(browser, address, truth)
            finally:
                stop(process)
            project.refresh()
            p50, p95 = np.percentile(waits, [50, 95])
            rows.append(row(f"key to paint after {level} answers", "ms, p95", p95, 100))
            rows.append(row(f"key to paint after {level} answers", "ms, median", p50, 100))
        browser.close()
    project.close()
    return rows


def large_photos(work):
    """The same with photos of 12 megapixels, from the first question on."""
    from playwright.sync_api import sync_playwright

    from likewise.items import open_items

    truth = np.arange(40) % 8
    rng = np.random.default_rng(3)
    np.save(work / "large.npy", rng.normal(size=(8, 16))[truth] + rng.normal(size=(40, 16)))
    make_pictures(work / "large", truth, (4000, 3000))
    items = open_items(work / "large", image_features="descriptors")
    began = time.perf_counter()
    for i in range(10):
        items.thumbnail(i, 1024)
    rows = [row("a thumbnail of 12 megapixels", "ms", (time.perf_counter() - began) * 100, "")]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        process, address = start(work / "large", "--features", work / "large.npy")
        try:
            waits = press_keys(browser, address, truth, 30)
        finally:
            stop(process)
        browser.close()
    rows.append(row("key to paint, 12 megapixels", "ms, p95", np.percentile(waits, 95), 100))
    rows.append(row("key to paint, 12 megapixels", "ms, median", np.median(waits), 100))
    return rows


def press_keys(browser, address, truth, n=N_PRESSES):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(address)
    page.wait_for_selector("#pair .frame img")
    page.evaluate(TIMING)
    for k in range(n):
        page.wait_for_timeout(THINKING_MS)
        asked = page.evaluate("fetch('api/query').then(r => r.json())")["question"]
        is_same = truth[asked["left"]["row"]] == truth[asked["right"]["row"]]
        page.keyboard.press("s" if is_same else "d")
        page.wait_for_function("n => window.waits.length === n", arg=k + 1)
    waits = page.evaluate("window.waits")
    page.close()
    return waits


def first_questions(work):
    """From the command to the first question about pictures, with every kind of features."""
    make_pictures(work / "small", np.arange(500) % 20, (128, 128))
    os.environ["XDG_CACHE_HOME"] = str(work / "cache")  # no features from earlier runs
    rows = []
    for features in ("efficientnet-lite0", "efficientnet-lite2", "descriptors"):
        what = f"first question of 500 small pictures, {features}"
        options = ("--image-features", features, "--session", work / f"{features}.likewise")
        rows += first_question(what, 10, work / "small", *options)
    again = ("--session", work / "again.likewise")
    rows += first_question("the same, begun again with features kept", 10, work / "small", *again)
    return rows


def first_question(what, limit, *command):
    began = time.perf_counter()
    process, address = start(*command)
    home, token = re.match(r"(http://[^/]+)/\?token=(.+)", address).groups()
    request = urllib.request.Request(
        f"{home}/api/query", headers={"authorization": f"Bearer {token}"}
    )
    with urllib.request.urlopen(request) as reply:
        reply.read()
    took = time.perf_counter() - began
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    stop(process)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [row(what, "s", took, limit), row(what, "s of CPU, start and end", cpu, "")]


def weight():
    from likewise.page.document import STATIC, TEMPLATE

    files = [TEMPLATE, *STATIC.iterdir()]
    return [row("page without items", "kB", sum(f.stat().st_size for f in files) / 1000, 200)]


def row(what, unit, value, limit):
    load = os.getloadavg()[0]
    return {
        "what": what,
        "unit": unit,
        "value": round(float(value), 1),
        "limit": limit,
        "load of the machine": round(load, 1),
    }


def main():
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        os.environ["XDG_CACHE_HOME"] = str(work / "cache")
        save(
            "page",
            [*weight(), *first_questions(work), *keys_to_paint(work), *large_photos(work)],
        )


if __name__ == "__main__":
    main()
