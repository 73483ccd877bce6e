import numpy as np
import pytest

from likewise import COBRA
from likewise.errors import InputError
from likewise.scale import from_array, from_npy

pytestmark = pytest.mark.usefixtures("small_blocks")
MODEL = COBRA(n_super_instances=20, engine="sample", random_state=0)
PHASES = ["sample", "train", "assign", "medians", "nearest", "score"]


def phases_of(reports):
    return list(dict.fromkeys(phase for phase, _, _ in reports))


def test_progress_tells_every_phase_from_nothing_to_all_rows(blobs):
    reports = []
    MODEL.start(from_array(blobs[0]), progress=lambda *report: reports.append(report))
    assert phases_of(reports) == PHASES
    for phase in PHASES:
        done = [n for p, n, _ in reports if p == phase]
        assert done[0] == 0
        assert done == sorted(done)
        assert done[-1] == 12_000
    assert {n_rows for _, _, n_rows in reports} == {12_000}


@pytest.mark.slow
@pytest.mark.parametrize("phase", PHASES)
def test_an_interrupted_start_goes_on_after_the_last_finished_phase(tmp_path, blobs, phase):
    source = from_array(blobs[0])
    expected = MODEL.start(source)

    def interrupt(now, done, n_rows):
        if now == phase and done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        MODEL.start(source, checkpoint=tmp_path / "run", progress=interrupt)
    reports = []
    session = MODEL.start(
        source, checkpoint=tmp_path / "run", progress=lambda *report: reports.append(report)
    )
    assert phases_of(reports) == PHASES[PHASES.index(phase) :]
    assert session == expected
    assert not list((tmp_path / "run").glob("*.tmp"))
    again = MODEL.start(source, checkpoint=tmp_path / "run", progress=interrupt)
    assert again == expected


def test_a_checkpoint_of_other_data_or_parameters_is_refused(tmp_path, blobs):
    X, _ = blobs
    MODEL.start(from_array(X), checkpoint=tmp_path / "run")
    with pytest.raises(InputError, match=r"n_super_instances was 20 and is 21 now"):
        COBRA(21, engine="sample", random_state=0).start(from_array(X), checkpoint=tmp_path / "run")
    with pytest.raises(InputError, match="beginning of another run: data"):
        MODEL.start(from_array(X + 1), checkpoint=tmp_path / "run")
    with pytest.raises(InputError, match="beginning of another run: train_indices"):
        MODEL.start(from_array(X), checkpoint=tmp_path / "run", train_indices=range(100))


def test_a_damaged_checkpoint_is_named(tmp_path, blobs):
    MODEL.start(from_array(blobs[0]), checkpoint=tmp_path / "run")
    (tmp_path / "run" / "assign.npz").write_bytes(b"cut")
    with pytest.raises(InputError, match=r"assign\.npz is damaged"):
        MODEL.start(from_array(blobs[0]), checkpoint=tmp_path / "run")


def test_a_file_that_changed_since_is_not_gone_on_with(tmp_path, blobs):
    np.save(tmp_path / "x.npy", blobs[0])
    MODEL.start(from_npy(tmp_path / "x.npy"), checkpoint=tmp_path / "run")
    np.save(tmp_path / "x.npy", blobs[0][::-1])
    with pytest.raises(InputError, match="another run: data"):
        MODEL.start(from_npy(tmp_path / "x.npy"), checkpoint=tmp_path / "run")
