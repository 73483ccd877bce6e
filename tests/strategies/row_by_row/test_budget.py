"""How fine the data are cut for a number of questions."""

import pytest

from likewise.strategies.row_by_row.budget import N_CUTS, next_cut


@pytest.mark.parametrize("budget", [0, 5, 30, 120, 1000])
def test_cuts_grow_and_end(budget):
    n_met = next_cut(budget, n_cuts=0, n_asked=0, n_met=0, n_components=0, n_proofs=0)
    for n_cuts in range(1, N_CUTS + 1):
        assert n_met is not None
        asked = min(budget, n_met)
        size = next_cut(
            budget, n_cuts=n_cuts, n_asked=asked, n_met=n_met, n_components=2, n_proofs=1
        )
        if size is None:
            break
        assert n_met < size <= n_met + budget
        n_met = size
    assert next_cut(budget, n_cuts=N_CUTS, n_asked=0, n_met=0, n_components=0, n_proofs=0) is None
