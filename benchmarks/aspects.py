"""ARI of `Likewise` by each aspect alone, by all side by side, and by aspects that are weighed.

The simplest rival of weighing is to choose: only kernels that see one aspect vote, and the rule
sees that aspect alone. It is the one whose best kernel, tuned as ours are, predicts known rows best
with each of them left out; it is chosen again whenever kernels are tuned. *Best of all* may also
choose all aspects side by side.

Emoji (Debian's packages fonts-noto-color-emoji and unicode-data), faces and newsgroup texts
(`LIKEWISE_DATA`), short descriptions of Debian's packages (``apt-cache dumpavail``). Sets whose
source is missing are left out. Every row is written as soon as it is measured, and rows that are
there are not measured again, so the command can be stopped and repeated. ``python -m
benchmarks.aspects NAME ...`` measures the sets whose names begin with one of these words.
"""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.datasets import _twenty_newsgroups as newsgroups
from sklearn.metrics import adjusted_rand_score

from benchmarks._results import save, saved
from likewise import LabelOracle, Likewise, run
from likewise.items import Aspect, Features, open_items
from likewise.learning import learner
from likewise.learning.voters import tune_kernels

AT = (30, 60, 100)
SAMPLES = (0, 1)
"""Which things are drawn of a set with more than these:"""
N_THINGS = 600
NEVER = 1e-300
"""How much kernels weigh beforehand that may not vote."""
EMOJI = Path("/usr/share/unicode/emoji/emoji-test.txt")
FONT = Path("/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf")
NO_THINGS = ("Component", "Flags", "Symbols")
TOPICS = {"comp": ("comp.",), "rec": ("rec.",), "all": ("",)}
SECTIONS = ("admin", "doc", "electronics", "fonts", "games", "graphics", "math", "sound")
CACHE = Path(tempfile.gettempdir()) / "likewise-aspects"


def things(sample):
    """Return what makes each set: its name, its kind, and a function that loads it."""
    if EMOJI.exists() and FONT.exists():
        yield "emoji by group", "images", lambda: _emoji(0, sample)
        yield "emoji by subgroup", "images", lambda: _emoji(1, sample)
    if "LIKEWISE_DATA" in os.environ:
        for target in ("person", "pose", "eyes"):
            if sample == 0:  # there are no others
                yield f"faces by {target}", "images", lambda target=target: _faces(target)
        for topic in TOPICS:
            yield f"subjects {topic}", "texts", lambda topic=topic: _newsgroups(topic, sample)[0]
        for topic in TOPICS:
            yield f"messages {topic}", "texts", lambda topic=topic: _newsgroups(topic, sample)[1]
    if shutil.which("apt-cache"):
        yield "Debian packages", "texts", lambda: _debian(sample)


def load(name, kind, make, sample):
    """Return the blocks of features of a set, by name, and its groups; kept on disk."""
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"{name.replace(' ', '-')}-{sample}.npz"
    if not path.exists():
        pictures_or_texts, groups = make()
        encoder = ["auto", "layout" if kind == "images" else "words"]
        found = open_items(pictures_or_texts, kind=kind, encoder=encoder).features()
        blocks = {aspect.name: found.block(aspect.name) for aspect in found.aspects}
        np.savez(path, y=np.unique(groups, return_inverse=True)[1], **blocks)
    with np.load(path) as stored:
        blocks = {key: stored[key].astype(np.float64) for key in stored if key != "y"}
        return blocks, stored["y"]


def _emoji(level, sample):
    from PIL import Image, ImageDraw, ImageFont

    font, found, headings = ImageFont.truetype(str(FONT), 109), [], ["", ""]
    for line in EMOJI.read_text(encoding="utf-8").splitlines():
        if line.startswith(("# group: ", "# subgroup: ")):
            headings["sub" in line[:5]] = line.split(": ")[1]
        is_one = re.match(r"([0-9A-F]+)(?: FE0F)? *; fully-qualified", line)
        if is_one and headings[0] not in NO_THINGS:
            found.append((chr(int(is_one[1], 16)), headings[level]))
    pictures = []
    for char, _ in (sampled := _some(found, sample)):
        picture = Image.new("RGB", (136, 128), "white")
        ImageDraw.Draw(picture).text((0, 0), char, font=font, embedded_color=True)
        pictures.append(picture)
    return pictures, [heading for _, heading in sampled]


def _faces(target):
    with np.load(Path(os.environ["LIKEWISE_DATA"]) / "cmu_faces.npz") as stored:
        return list(stored["full"]), stored[target]


def _newsgroups(topic, sample):
    path = Path(os.environ["LIKEWISE_DATA"]) / "newsgroups20.jsonl.gz"
    subjects, bodies = {}, {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        messages = [json.loads(line) for line in file]
    for message in messages:
        if not message["newsgroup"].startswith(TOPICS[topic]):
            continue
        found = re.search(r"^Subject: (.*)$", message["text"], re.M)
        subject = re.sub(r"^(re:\s*)+", "", found[1].strip(), flags=re.I) if found else ""
        if len(subject) >= 8:
            subjects[subject] = message["newsgroup"]
        body = newsgroups.strip_newsgroup_header(message["text"])
        body = newsgroups.strip_newsgroup_footer(newsgroups.strip_newsgroup_quoting(body)).strip()
        if len(body) >= 100:
            bodies[body] = message["newsgroup"]
    both = (_some(sorted(texts.items()), sample) for texts in (subjects, bodies))
    return [tuple(zip(*pairs, strict=True)) for pairs in both]


def _debian(sample):
    listed = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True)
    by_section = defaultdict(set)
    for entry in listed.stdout.split("\n\n"):
        fields = dict(re.findall(r"^(Section|Description): (.*)$", entry, re.M))
        if fields.get("Section") in SECTIONS:
            by_section[fields["Section"]].add(fields["Description"])
    pairs = [
        (text, section)
        for section in sorted(by_section)
        for text, _ in _some(sorted((text, section) for text in by_section[section]), sample, 75)
    ]
    return tuple(zip(*pairs, strict=True))


def _some(things, sample, n=N_THINGS):
    order = np.sort(np.random.default_rng(sample).permutation(len(things))[:n])
    return [things[i] for i in order]


def choosing(may_see_all):
    """Return how kernels are tuned if all of them must see the same: one aspect, or all."""

    def tuned(known, groups, first):
        allowed = np.where([may_see_all, *(True for _ in first[1:])], first, NEVER)
        # The best kernel is the first one.
        best = tune_kernels(known, groups, allowed)[0].mix
        return tune_kernels(known, groups, np.where(np.arange(len(first)) == best, first, NEVER))

    return patch.object(learner, "tune_kernels", tuned)


def measured(things, y, tuning):
    """Return the index after 30, 60 and 100 right answers, and what the aspects weigh then."""
    with tuning:
        session, found = Likewise(max(AT), random_state=0).start(things), []
        for n in AT:
            run(session, LabelOracle(y), max_queries=n - session.n_asked)
            found.append(round(adjusted_rand_score(y, session.labels), 3))
        return found, session.grouped_by


def ways(blocks):
    """Yield each way to look at blocks of features: its name, what is grouped, how it is tuned."""
    for name, block in blocks.items():
        yield f"{name} alone", block, nullcontext()
    X = np.hstack(list(blocks.values()))
    yield "side by side", X, nullcontext()
    ends = np.cumsum([0, *(block.shape[1] for block in blocks.values())]).tolist()
    columns = {name: tuple(range(*ends[k : k + 2])) for k, name in enumerate(blocks)}
    aspects = tuple(
        Aspect(name, name, columns=where, is_main=name == "meaning")
        for name, where in columns.items()
    )
    items = open_items(X).with_features(Features(X, aspects=aspects))
    yield "weighed aspects", items, nullcontext()
    yield "best aspect", items, choosing(may_see_all=False)
    yield "best of all", items, choosing(may_see_all=True)


def main(wanted=()):
    rows = saved("aspects")
    done = {(row["set"], row["features"], int(row["sample"])) for row in rows}
    for sample, (name, kind, make) in ((k, one) for k in SAMPLES for one in things(k)):
        if wanted and not name.startswith(wanted):
            continue
        blocks, y = load(name, kind, make, sample)
        for way, grouped, tuning in ways(blocks):
            if (name, way, sample) in done:
                continue
            found, words = measured(grouped, y, tuning)
            about = {"set": name, "things": len(y), "groups": len(np.unique(y)), "features": way}
            index = {f"ARI at {n}": x for n, x in zip(AT, found, strict=True)}
            rows.append({**about, "sample": sample, **index, "words": words})
            save("aspects", rows)


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
