"""Features that are kept on disk."""

import os
import stat

import numpy as np
import pytest

from likewise.items import open_items
from likewise.items.cache import FILE, FeatureCache

Image = pytest.importorskip("PIL.Image", reason='pip install "likewise[app]"')

ROWS = {"a": np.array([1.5, 2], dtype=np.float32), "b": np.array([-1, 0], dtype=np.float32)}


def test_rows_come_back_under_what_made_them(tmp_path):
    FeatureCache(tmp_path / "new" / "folder").keep("x", ROWS)
    cache = FeatureCache(tmp_path / "new" / "folder")
    kept = cache.find("x", ["b", "c", "a"])
    assert sorted(kept) == ["a", "b"]
    assert all(np.array_equal(kept[name], ROWS[name]) for name in kept)
    assert cache.find("y", ["a"]) == {}
    assert cache.notes == ()


def test_thousands_of_rows_come_back(tmp_path):
    names = [str(k) for k in range(2_345)]
    FeatureCache(tmp_path).keep(
        "x", {name: np.array([k], np.float32) for k, name in enumerate(names)}
    )
    kept = FeatureCache(tmp_path).find("x", names)
    assert [float(kept[name][0]) for name in names] == list(range(2_345))


def test_a_damaged_file_counts_as_missing_and_is_made_anew(tmp_path):
    cache = FeatureCache(tmp_path)
    cache.keep("x", ROWS)
    whole = (tmp_path / FILE).read_bytes()
    place = whole.index(ROWS["a"].tobytes())
    for damaged in (
        b"",
        b"hello" * 500,
        whole[:100],
        whole[: len(whole) // 2],
        whole[:place] + b"\xff" + whole[place + 1 :],
    ):
        (tmp_path / FILE).write_bytes(damaged)
        assert "a" not in cache.find("x", ["a", "b"])
        cache.keep("x", ROWS)
        cache.keep("x", ROWS)
        assert sorted(cache.find("x", ["a", "b"])) == ["a", "b"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes among files")
def test_a_journal_that_does_not_belong_to_the_file_goes_with_it(tmp_path):
    cache = FeatureCache(tmp_path)
    cache.keep("x", ROWS)
    os.mkfifo(tmp_path / f"{FILE}-journal")
    assert cache.find("x", ["a", "b"]) == {}
    cache.keep("x", ROWS)
    assert sorted(cache.find("x", ["a", "b"])) == ["a", "b"]


def test_a_folder_that_cannot_be_written_to_is_said(tmp_path):
    (tmp_path / "file").write_text("in the way")
    cache = FeatureCache(tmp_path / "file")
    cache.keep("x", ROWS)
    assert cache.find("x", ["a"]) == {}
    assert "could not be kept" in cache.notes[0]


def test_an_array_is_made_once_and_then_found_as_it_was(tmp_path):
    D = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(FeatureCache(tmp_path).get("x", "k", lambda: D), D)
    kept = FeatureCache(tmp_path).get("x", "k", lambda: pytest.fail("made again"))
    assert kept.dtype == D.dtype
    assert np.array_equal(kept, D)
    assert FeatureCache(tmp_path).get("y", "k", lambda: D[:0]).shape == (0, 3)


@pytest.mark.skipif(os.name != "posix", reason="permissions of Unix")
def test_only_their_owner_can_read_features(tmp_path):
    before = os.umask(0o022)
    try:
        FeatureCache(tmp_path / "cache").keep("x", ROWS)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "cache" / FILE).stat().st_mode) == 0o600


def test_no_folder_keeps_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FeatureCache(None).keep("x", ROWS)
    assert FeatureCache(None).find("x", ["a"]) == {}
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def looked_at(monkeypatch):
    """How many pictures each call computed features of."""
    from likewise.items.images import recipes

    calls = []
    describe = recipes.describe

    def watched(pictures):
        calls.append(len(pictures))
        return describe(pictures)

    monkeypatch.setattr(recipes, "describe", watched)
    return calls


def draw(path, color):
    Image.new("RGB", (40, 30), color).save(path)


def test_one_picture_more_is_the_only_one_looked_at(tmp_path, looked_at):
    folder, cache = tmp_path / "photos", tmp_path / "cache"
    folder.mkdir()
    for k in range(5):
        draw(folder / f"{k}.png", (k * 40, 0, 0))
    options = {"encoder": "layout", "cache": cache}
    before = open_items(folder, **options).features().X
    assert looked_at == [5]
    draw(folder / "0a.png", "blue")
    (folder / "4.png").rename(folder / "9.png")
    after = open_items(folder, **options).features().X
    assert looked_at == [5, 1]
    assert np.array_equal(after[[0, 2, 3, 4, 5]], before)
    open_items(folder, **options).features()
    assert looked_at == [5, 1]


def test_equal_pictures_are_looked_at_once(tmp_path, looked_at):
    for k in range(4):
        draw(tmp_path / f"{k}.png", "red" if k % 2 else "green")
    steps = []
    items = open_items(tmp_path, encoder="layout", cache=False)
    X = items.features(lambda *step: steps.append(step)).X
    assert looked_at == [2]
    assert steps == [(4, 4)]
    assert np.array_equal(X[0], X[2])
    assert not np.array_equal(X[0], X[1])


def test_what_was_done_before_an_interruption_is_not_done_again(tmp_path, looked_at, monkeypatch):
    folder, cache = tmp_path / "photos", tmp_path / "cache"
    folder.mkdir()
    for k in range(6):
        draw(folder / f"{k}.png", (k * 40, 0, 0))
    monkeypatch.setattr("likewise.items.images.CHUNK", 2)

    def stop(done, n):
        if done == 4:
            raise KeyboardInterrupt

    items = open_items(folder, encoder="layout", cache=cache)
    with pytest.raises(KeyboardInterrupt):
        items.features(stop)
    items.features()
    assert looked_at == [2, 2, 2]
