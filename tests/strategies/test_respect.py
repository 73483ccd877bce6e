import numpy as np

from likewise.core.answers import Answer
from likewise.core.links import LinkGraph
from likewise.strategies.representatives import respecting_groups


def test_labels_respect_links_also_where_all_groups_are_forbidden():
    links = LinkGraph(6)
    for i, j in ((0, 1), (0, 2), (1, 2), (2, 3)):
        links.add(i, j, Answer.DIFFERENT)
    links.add(3, 4, Answer.SAME)
    chances = np.tile([[0.6, 0.4]], (6, 1))
    labels = respecting_groups(chances, links, {0: 0, 1: 1})
    assert len({*labels[:3]}) == 3
    assert labels[3] == labels[4] != labels[2]
