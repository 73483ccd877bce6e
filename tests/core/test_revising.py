"""What becomes of a log when something in it is another thing."""

import numpy as np
from likewise.core.revising import mended, revised

from likewise import Answer, Gesture, Link
from likewise.core.journal import Revised
from likewise.core.partition import singletons
from likewise.strategies import ClosestFirst

SAME, DIFFERENT, UNSURE = Answer
STRATEGY = ClosestFirst(singletons(np.arange(6.0)[:, None]))


def gestures(*said):
    return [Gesture(k, tuple(Link(*link) for link in links)) for k, links in enumerate(said, 1)]


def test_a_gesture_that_is_dropped_takes_all_its_links_with_it_and_no_others():
    log = gestures(
        [(0, 1, SAME)],
        [(2, 0, SAME), (2, 1, SAME)],  # together they contradict what the first says now
        [(0, 1, DIFFERENT)],  # follows from the first now
        [(2, 0, DIFFERENT)],
    )
    revision = revised(log, Revised(1, DIFFERENT), STRATEGY)
    assert [(g.number, g.links[0].pair) for g in revision.kept] == [(1, (0, 1)), (2, (0, 2))]
    assert [g.number for g in revision.dropped] == [2, 3]


def test_what_contradicts_a_mended_group_loses_just_those_links():
    log = gestures([(0, 1, SAME), (0, 2, SAME)], [(1, 3, DIFFERENT)], [(4, 5, UNSURE)])
    new = Gesture(9, (Link(0, 1, DIFFERENT), Link(1, 3, SAME)))
    found = mended(log, new, STRATEGY)
    assert [g.number for g in found] == [1, 2, 3]
    assert found[0].links == (Link(0, 2, SAME),)
    assert found[1].links == log[2].links
    assert found[2].links == new.links
