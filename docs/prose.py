"""Check the English of the documents: proselint over the text, and phrases to avoid.

Code, tables, links and math are left out, since proselint takes them for prose. Prints each finding
with its file and line; the exit status says whether there were any.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("*.md", "docs/*.md", "docs/guide/*.md", "docs/methods/*.md")
AVOID = {
    r"\banew\b": "again",
    r"\bforetold\b": "predicted",
    r"\bby themselves\b": "without being told, automatically",
    r"\bnobody needs\b": "say what is left out",
    r"\ball else speaks against\b": "contradicts what else is known",
    r"\bof one's own\b": "of your own",
    r"\b1 (rows|groups|answers|items|questions)\b": "the singular",
    r"\b(utilize|leverage|in order to|simply|obviously)\b": "a shorter word, or none",
}
"""Phrases that readers stumbled over, and what to say instead."""

NOT_OURS = ("typography.", "lexical_illusions", "cliches.misc.garner", "misc.but", "weasel_words")
"""Checks that mistake names, numbers or terms of ours ("settled for free") for bad prose."""
ALLOWED = {"for free", "discriminating", "point in time"}


def prose(text):
    """Return the text with all that is not prose blanked, lines and columns kept."""
    for pattern in (r"```.*?```", r"`[^`\n]*`", r"^\|.*$", r"\]\([^)]*\)", r"<[^>\n]+>"):
        text = re.sub(pattern, blank, text, flags=re.S | re.M if "```" in pattern else re.M)
    return text


def blank(match):
    """Return as many spaces, and the line ends."""
    return re.sub(r"[^\n]", " ", match[0])


def phrases(name, text):
    """Return a line for each phrase to avoid."""
    return [
        f"{name}:{text.count(chr(10), 0, found.start()) + 1}: “{found[0]}”: rather {instead}"
        for pattern, instead in AVOID.items()
        for found in re.finditer(pattern, text, re.I)
    ]


def linted(texts):
    """Return a line for each finding of proselint that is not left out."""
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(texts.values()):
            Path(folder, f"{number}.md").write_text(text, encoding="utf-8")
        paths = [str(Path(folder, f"{number}.md")) for number in range(len(texts))]
        command = [sys.executable, "-m", "proselint", "check", *paths]
        said = subprocess.run(command, capture_output=True, text=True, check=False)
    if said.stderr:
        return [said.stderr]
    names = list(texts)
    found = re.findall(r"^.*?(\d+)\.md:(\d+):\d+: ([\w.]+): (.*)$", said.stdout, re.M)
    return [
        f"{names[int(number)]}:{line}: {message}"
        for number, line, check, message in found
        if not check.startswith(NOT_OURS) and not any(word in message for word in ALLOWED)
    ]


def main():
    """Check all documents."""
    paths = sorted({path for pattern in PAGES for path in ROOT.glob(pattern)})
    texts = {str(p.relative_to(ROOT)): prose(p.read_text("utf-8")) for p in paths}
    lines = [line for name, text in texts.items() for line in phrases(name, text)] + linted(texts)
    print("\n".join(lines) or f"{len(texts)} documents read, nothing to say")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
