"""Kill -9 at random moments, really: nothing acknowledged is lost, nothing is doubled."""

import os
import random
import signal
import subprocess
import sys
import textwrap

import pytest

from likewise.project.store import Store

KILLS = 240

# One process that imports once and forks a writer for every path it reads. A writer says its own
# id and acknowledges every operation after `append` has returned; it never stops by itself.
WRITERS = textwrap.dedent(
    """
    import os, sys, warnings
    from likewise.project.store import Store
    warnings.simplefilter("ignore")

    def say(*words):
        os.write(1, (" ".join(map(str, words)) + "\\n").encode())

    for line in sys.stdin:
        path, checkpoint = line.rstrip("\\n").split("\\t")
        pid = os.fork()
        if pid == 0:
            store = Store.open(path)
            store._db.execute(f"PRAGMA wal_autocheckpoint = {checkpoint}")
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
            # Half of the writers fold their log into the file all the time, so that the kill also
            # hits that.
            writers.stdin.write(f"{path}\t{rng.choice([2, 1000])}\n")
            writers.stdin.flush()
            acknowledged, code = kill_at_random(writers.stdout, rng)
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
    acknowledged = [int(next(lines).split()[1]) for _ in range(rng.randrange(6))]
    for _ in range(rng.randrange(20_000)):
        pass
    os.kill(int(pid), signal.SIGKILL)
    for line in lines:
        word, number = line.split()
        if word == "dead":
            return acknowledged, int(number)
        acknowledged.append(int(number))
    raise AssertionError("the writers ended")
