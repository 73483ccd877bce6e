import threading

import numpy as np
import pytest
import sklearn.cluster  # noqa: F401  (brings OpenMP)
from threadpoolctl import threadpool_info, threadpool_limits

from likewise.rows.threads import map_in_threads, n_threads, one_thread_each


def threads_now(user_api="blas"):
    """Return the numbers of threads; linear algebra made with OpenMP counts as OpenMP."""
    return [
        each["num_threads"]
        for each in threadpool_info()
        if (each.get("threading_layer") == "openmp" or each["user_api"] == "openmp")
        == (user_api == "openmp")
    ]


@pytest.fixture(autouse=True)
def _two_threads():
    """Libraries that would use two threads, on any machine."""
    with threadpool_limits(2):
        if set(threads_now()) != {2}:
            pytest.skip("linear algebra here has no threads")
        yield


def test_inside_there_is_one_thread_and_outside_what_there_was():
    with one_thread_each():
        assert set(threads_now()) == set(threads_now("openmp")) == {1}
        with one_thread_each():
            assert set(threads_now()) == {1}
        assert set(threads_now()) == set(threads_now("openmp")) == {1}
    assert set(threads_now()) == set(threads_now("openmp")) == {2}


def test_an_error_lifts_the_limit():
    with pytest.raises(KeyError), one_thread_each():
        raise KeyError
    assert set(threads_now()) == {2}


def test_blocks_that_overlap_in_two_threads_keep_the_limit_until_the_last_ends():
    inside, leave = threading.Event(), threading.Event()

    def other():
        with one_thread_each():
            inside.set()
            leave.wait(60)

    with one_thread_each():
        thread = threading.Thread(target=other)
        thread.start()
        assert inside.wait(60)
    assert set(threads_now()) == {1}
    leave.set()
    thread.join()
    assert set(threads_now()) == {2}


def test_any_thread_can_set_the_limit():
    counts = []

    def other():
        with one_thread_each():
            counts.extend(threads_now())

    with one_thread_each():
        pass
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert set(counts) == {1}
    assert set(threads_now()) == {2}


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_every_call_of_a_map_has_one_thread(n_jobs):
    def count(_):
        np.linalg.norm(np.eye(3))
        return *threads_now(), *threads_now("openmp")

    counts = map_in_threads(count, range(5), n_jobs)
    assert len(counts) == 5
    assert set(sum(counts, ())) == {1}


def test_a_map_keeps_the_order():
    assert map_in_threads(lambda x: x * x, range(20), 3) == [x * x for x in range(20)]
    assert map_in_threads(lambda x: x, [], 3) == []


def test_there_are_no_more_threads_than_work():
    assert n_threads(None, 5) == 1
    assert n_threads(4, 3) == 3
    assert n_threads(4, 0) == 1
    assert n_threads(-1, 1) == 1
