"""Take the pictures of the page for the README and the docs: python docs/make_pictures.py

Needs Chromium, the networks and the packages of the group `browser`. A person who knows the groups
is simulated.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright
from sklearn.datasets import load_iris

from likewise.cli.aquarium import school, write_aquarium
from likewise.project import open_project
from likewise.web.app import Readiness
from likewise.web.serving import prepare

PICTURES = Path(__file__).parent / "pictures"
CHROMIUM = os.environ.get("LIKEWISE_CHROMIUM", "/usr/bin/chromium")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"]
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
MAILS = [
    "The parcel arrived two days late and the box was torn.",
    "My parcel came late and the box is damaged.",
    "I cannot log in to my account any more.",
    "Login to my account fails with an error.",
    "Great service, thank you so much!",
    "Thank you, the service was great.",
    "The refund for my order has not arrived.",
    "When will I get the refund for my order?",
]


def write_fish(folder):
    """Draw the aquarium; return the kind of every fish."""
    write_aquarium(folder)
    return [fish.kind if fish.kind.endswith("fish") else f"{fish.kind}s" for fish in school()]


def write_iris(path):
    data = load_iris()
    lines = [",".join(name.removesuffix(" (cm)") for name in data.feature_names)]
    path.write_text("\n".join([*lines, *(",".join(map(str, r)) for r in data.data.tolist())]))
    return data.target.tolist()


def take_your_time(route):
    """Let an answer take as long as a person would."""
    route.continue_(post_data=json.dumps({**route.request.post_data_json, "seconds": 4.0}))


class Sitting:
    """A server and a page, driven by somebody who knows the truth."""

    def __init__(self, browser, path, truth, options=None, questions="choices", **looks):
        self.project = open_project(path, options=options, questions=questions).project
        self.served = prepare(Readiness(path.name, self.project), port=0)
        self.thread = threading.Thread(target=self.served.run, daemon=True)
        self.thread.start()
        self.truth = truth
        self.page = browser.new_context(**{"viewport": DESKTOP, **looks}).new_page()
        self.page.set_default_timeout(120_000)
        self.page.route("**/api/answer", take_your_time)
        self.page.goto(self.served.address)
        self.page.wait_for_selector("body[data-position]")

    def fetch(self, path):
        return self.page.evaluate("path => fetch(path).then(r => r.json())", path)

    def answer(self, n):
        for _ in range(n):
            asked = self.fetch("api/query")
            if asked["is_done"]:
                return
            self.page.keyboard.type(self.key(asked["question"]))
            self.page.wait_for_selector(f"body:not([data-position='{asked['position']}'])")
            self.page.wait_for_selector("main:not([aria-busy=true])")

    def answer_until_it_is_enough(self):
        while not self.fetch("api/progress")["outlook"]["can_stop"]:
            self.answer(5)

    def asked(self):
        """Return the open question, which is a choice after the first few."""
        return self.fetch("api/query")["question"]

    def key(self, question):
        """Return the key of the right answer."""
        if question["kind"] == "pair":
            left, right = (question[side]["row"] for side in ("left", "right"))
            return "s" if self.truth[left] == self.truth[right] else "d"
        wanted = self.truth[question["item"]["row"]]
        shown = [self.truth[group["shown"][0]["row"]] for group in question["groups"]]
        return question["groups"][shown.index(wanted)]["key"] if wanted in shown else "0"

    def name_groups(self):
        """Name the largest groups, and show that."""
        for group in self.project.groups()[:4]:
            name = self.truth[group.standing[0]]
            self.project.name(group.id, name, position=self.project.position)
        self.page.reload()
        self.page.wait_for_selector("body[data-position]")
        self.page.wait_for_selector("main:not([aria-busy=true])")

    def go(self, name):
        self.page.get_by_role("link", name=name, exact=True).click()
        self.page.locator("section:not([hidden]) h1").wait_for()

    def shoot(self, name):
        self.page.evaluate("scrollTo(0, 0)")
        self.page.wait_for_load_state("networkidle")
        self.page.screenshot(path=PICTURES / f"{name}.png", animations="disabled")
        print(PICTURES / f"{name}.png")

    def close(self):
        self.page.context.close()
        self.served.server.should_exit = True
        self.thread.join()
        self.project.close()


def aquarium(browser, work):
    truth = write_fish(work / "aquarium")
    sitting = Sitting(browser, work / "aquarium", truth)
    sitting.answer(30)
    sitting.name_groups()
    sitting.shoot("ask")
    sitting.go("History")
    sitting.page.locator(".event").nth(3).click()
    sitting.page.locator(".revise button").first.click()
    sitting.page.locator(".revise p.words").wait_for()
    sitting.shoot("history")
    sitting.go("Questions")
    sitting.answer_until_it_is_enough()
    sitting.go("Groups")
    sitting.name_groups()
    sitting.shoot("result")
    sitting.go("Map")
    sitting.page.locator(".map > canvas").press("ArrowRight")
    sitting.page.locator(".inspect h2").wait_for()
    sitting.shoot("map")
    sitting.close()


def small_ones(browser, work):
    truth = write_fish(work / "phone" / "aquarium")
    sitting = Sitting(browser, work / "phone" / "aquarium", truth, viewport=PHONE)
    sitting.answer(12)
    sitting.shoot("phone")
    sitting.close()
    truth = write_iris(work / "iris.csv")
    sitting = Sitting(browser, work / "iris.csv", truth, color_scheme="dark")
    sitting.answer(20)
    sitting.shoot("rows-dark")
    sitting.close()
    texts = [f"{text} Ticket {k}" for k, text in enumerate(MAILS * 5)]
    (work / "mails.csv").write_text("\n".join(["text", *(f'"{text}"' for text in texts)]))
    truth = [k % 8 // 2 for k in range(len(texts))]
    sitting = Sitting(browser, work / "mails.csv", truth, {"text": "text"})
    sitting.answer(10)
    sitting.shoot("texts")
    sitting.close()


def demo(browser, work):
    """The page that `likewise demo --auto` writes."""
    written = work / "demo.html"
    run = "from likewise.cli import main; main()"
    subprocess.run([sys.executable, "-c", run, "demo", "--auto", "-o", str(written)], check=True)
    page = browser.new_page(viewport=DESKTOP)
    page.goto(written.as_uri())
    page.screenshot(path=PICTURES / "demo.png")
    print(PICTURES / "demo.png")
    page.close()


def main():
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        demo(browser, Path(folder))
        aquarium(browser, Path(folder))
        small_ones(browser, Path(folder))
        browser.close()


if __name__ == "__main__":
    main()
