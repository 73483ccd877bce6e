"""Ask and tell by hand, stop in the middle and continue another day.

Run it twice: python examples/ask_and_tell.py session.json
"""

import json
import sys
from pathlib import Path

from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale

from likewise import COBRA, Answer, Session

QUESTIONS_A_DAY = 20


def main(path):
    wine = load_wine()
    if path.exists():
        session = Session.from_dict(json.loads(path.read_text()))
        print(f"going on: {session.progress}")
    else:
        session = COBRA(n_super_instances=30, random_state=0).start(minmax_scale(wine.data))

    for _ in range(QUESTIONS_A_DAY):
        question = session.ask()
        if question is None:
            break
        # A person would taste the two wines here; the labels stand in for that.
        is_same = wine.target[question.left] == wine.target[question.right]
        session.tell(Answer.SAME if is_same else Answer.DIFFERENT, question=question)
        # The answer is on disk before the next question appears.
        path.write_text(json.dumps(session.to_dict()))

    print("done" if session.is_done else "enough for today", "-", session.progress)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "session.json"))
