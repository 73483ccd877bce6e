"""Kill -9 at random moments, really: nothing acknowledged is lost, nothing is doubled."""

import os
import random
import signal
import subprocess
import sys
import textwrap

import pytest

from likewise.project import open_project
from likewise.store import Store

KILLS = 240
GESTURE_KILLS = 200

# One process that imports once and forks a writer for every path it reads. A writer says its own
# id and acknowledges every operation after `append` has returned; it never stops by itself.
WRITERS = textwrap.dedent(
    """
    import os, sys, warnings
    from likewise.store import Store
    warnings.simplefilter("ignore")

    def say(*words):
        os.write(1, (" ".join(map(str, words)) + "\\n").encode())

    for line in sys.stdin:
        path = line.rstrip("\\n")
        pid = os.fork()
        if pid == 0:
            store = Store.open(path)
            last = store.last
            say("writer", os.getpid())
            while True:
                op = {"do": "tell", "number": last + 1, "by": os.getpid()}
                last = store.append(op, after=last)
                say("saved", last)
        _, status = os.waitpid(pid, 0)
        say("dead", os.waitstatus_to_exitcode(status))
    """
)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_killing_the_writer_hundreds_of_times_loses_nothing_acknowledged(tmp_path):
    rng = random.Random(20240817)
    path = tmp_path / "killed.likewise"
    Store.create(path, items={"a": "1"}).close()
    survived = 0  # operations that were stored and never acknowledged: allowed, and counted
    last = 0
    with subprocess.Popen(
        [sys.executable, "-c", WRITERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writers:
        for _ in range(KILLS):
            writers.stdin.write(f"{path}\n")
            writers.stdin.flush()
            said, code = kill_at_random(writers.stdout, rng)
            acknowledged = [int(words[0]) for words in said]
            assert code == -signal.SIGKILL
            assert acknowledged == list(range(last + 1, last + 1 + len(acknowledged)))
            promised = last + len(acknowledged)
            with Store.open(path) as store:
                entries = store.read(since=last)
                last = store.last
            assert [e.seq for e in entries] == [e.op["number"] for e in entries]
            assert promised <= last <= promised + 1
            survived += last - promised
        writers.stdin.close()
    with Store.open(path) as store:
        numbers = [e.op["number"] for e in store.read()]
    assert numbers == list(range(1, last + 1))
    assert len(numbers) > KILLS


def kill_at_random(lines, rng):
    """Kill after a random number of acknowledgments and a random bit of work later."""
    word, pid = next(lines).split()
    assert word == "writer"
    acknowledged = [next(lines).split()[1:] for _ in range(rng.randrange(6))]
    for _ in range(rng.randrange(20_000)):
        pass
    os.kill(int(pid), signal.SIGKILL)
    for line in lines:
        word, *numbers = line.split()
        if word == "dead":
            return acknowledged, int(numbers[0])
        acknowledged.append(numbers)
    raise AssertionError("the writers ended")


# The same with every kind of change of a project: answers, mendings of several links, names, undo,
# redo, revisions, checks, marks. A writer acknowledges the position and the groups after each.
GESTURES = textwrap.dedent(
    """
    import os, random, sys, warnings
    from contextlib import suppress
    from likewise.core.answers import Answer
    from likewise.errors import LikewiseError
    from likewise.project import open_project
    warnings.simplefilter("ignore")

    def say(*words):
        os.write(1, (" ".join(map(str, words)) + "\\n").encode())

    def do(project, rng):
        at = {"position": project.position}
        question, groups, session = project.ask(), project.groups(), project.session
        way = rng.choice(
            ["tell", "tell", "move", "merge", "name", "undo", "redo", "revise", "settle", "misfit",
             "go on", "check"]
        )
        if way == "tell" and question is not None:
            said = rng.choice([0, Answer.NONE, Answer.UNSURE])
            project.choose(said, number=question.number, **at)
        elif way == "move":
            rows = rng.sample(range(len(project.ids)), 3)
            project.mend(lambda mending: mending.move(rows, None), **at)
        elif way == "merge" and len(groups) > 1:
            project.mend(lambda mending: mending.merge(groups[:2]), **at)
        elif way == "name":
            project.name(groups[0].id, f"name {project.position}", **at)
        elif way == "redo" and session.can_redo:
            project.redo(**at)
        elif way == "revise" and session.events:
            number = rng.choice(session.events).number
            project.revise(number, rng.choice(list(Answer)), **at)
        elif way == "settle":
            left, right = rng.sample(range(len(project.ids)), 2)
            project.settle(left, right, rng.choice(list(Answer)), **at)
        elif way == "misfit":
            project.misfit(rng.randrange(len(project.ids)), **at)
        elif way == "go on" and question is None:
            project.rebuild(**at)
        elif way == "check" and (checks := project.checks()):
            check, _ = rng.choice(checks)
            project.tell_check(check.left, check.right, rng.choice(list(Answer)), **at)
        elif session.can_undo:
            project.undo(**at)

    for line in sys.stdin:
        path, seed = line.rstrip("\\n").split("\\t")
        pid = os.fork()
        if pid == 0:
            rng = random.Random(int(seed))
            project = open_project(path).project
            say("writer", os.getpid())
            while True:
                with suppress(LikewiseError):  # what contradicts earlier answers
                    do(project, rng)
                say("saved", project.position, *project.session.labels)
        _, status = os.waitpid(pid, 0)
        say("dead", os.waitstatus_to_exitcode(status))
    """
)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_killing_in_the_middle_of_gestures_leaves_whole_ones(tmp_path):
    rng = random.Random(7)
    table = "x,y\n" + "".join(f"{k % 4 * 9 + k / 9},{k % 3}\n" for k in range(24))
    n_entries = 0
    with subprocess.Popen(
        [sys.executable, "-c", GESTURES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writers:
        for seed in range(GESTURE_KILLS):
            # A new session now and then: opening one goes over its whole log.
            path = tmp_path / f"rows {seed // 10}.csv"
            if not path.exists():
                path.write_text(table)
                open_project(path, n_super_instances=8).project.close()
            writers.stdin.write(f"{path}\t{seed}\n")
            writers.stdin.flush()
            said, code = kill_at_random(writers.stdout, rng)
            assert code == -signal.SIGKILL
            project = open_project(path).project
            if said:
                position, *labels = map(int, said[-1])
                assert position <= project.position <= position + 1
                if position == project.position:
                    assert project.session.labels.tolist() == labels
            n_entries += project.position
            project.close()
        writers.stdin.close()
    assert n_entries > 5 * GESTURE_KILLS
