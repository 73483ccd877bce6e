"""The laws of items: what page, terminal, files and exports need of every kind."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from likewise.core.arrays import array_to_json, from_json
from likewise.errors import InputError
from likewise.items import KINDS, Aspect, Features, Items, open_items


class ItemsLaws:
    """The laws of items, one test method each; they take pytest's fixture `tmp_path`.

    A subclass writes a small source of its kind into a folder. If items of this kind can be broken,
    the source should have a broken one.
    """

    def write(self, folder: Path, *, is_changed: bool) -> Path:
        """Write a source of at least three items and return its path.

        Parameters
        ----------
        folder : Path
            An empty folder, or the one that this wrote to before.
        is_changed : bool
            Whether the content of one item is different. The ids stay the same.
        """
        raise NotImplementedError("say how to write a source of your items")

    def open(self, source: Path) -> Items:
        """Open what `write` wrote."""
        return open_items(source, cache=False)

    def test_ids_name_every_item_once_and_stay(self, tmp_path: Path) -> None:
        source = self.write(tmp_path, is_changed=False)
        items, again = self.open(source), self.open(source)
        assert items.n == len(items) == len(set(items.ids)) >= 3
        assert all(isinstance(name, str) and name for name in items.ids)
        assert again.ids == items.ids
        assert again.content_hashes() == items.content_hashes()

    def test_every_item_can_be_shown_also_a_broken_one(self, tmp_path: Path) -> None:
        items = self.open(self.write(tmp_path, is_changed=False))
        for i in range(items.n):
            for words in (items.title(i), items.heading(i), items.location(i)):
                assert words
                assert len(words.splitlines()) == 1
            assert items.view(i)["kind"] == items.kind
            assert json.loads(json.dumps(items.view(i))) == items.view(i)
            assert items.tile(i).keys() <= {"line", "spark"}

    def test_pictures_are_small_and_only_where_there_are_some(self, tmp_path: Path) -> None:
        items = self.open(self.write(tmp_path, is_changed=False))
        for i in range(items.n):
            try:
                picture = items.thumbnail(i, 64)
            except InputError:
                assert not items.has_pictures or i in {p.item for p in items.problems}
            else:
                assert items.has_pictures
                assert picture

    def test_features_are_finite_and_broken_items_are_not_asked_about(self, tmp_path: Path) -> None:
        items = self.open(self.write(tmp_path, is_changed=False))
        features = items.features()
        assert features.X.ndim == 2
        assert len(features.X) == items.n
        assert np.isfinite(features.X).all()
        assert features.description
        if features.metric == "precomputed":
            assert np.array_equal(features.X, features.X.T)
            assert not features.X.diagonal().any()
        broken = {p.item for p in (*items.problems, *features.problems) if p.item is not None}
        assert set(features.askable.tolist()) == set(range(items.n)) - broken

    def test_features_are_the_same_again_and_can_be_replaced(self, tmp_path: Path) -> None:
        source = self.write(tmp_path, is_changed=False)
        items = self.open(source)
        assert np.array_equal(items.features().X, self.open(source).features().X)
        own = Features(np.eye(items.n), "of my own")
        assert items.with_features(own).features().X is own.X
        assert items.features().description != own.description
        assert np.array_equal(np.asarray(items), items.features().X)

    def test_every_column_belongs_to_one_named_aspect(self, tmp_path: Path) -> None:
        features = self.open(self.write(tmp_path, is_changed=False)).features()
        names = [aspect.name for aspect in features.aspects]
        assert len(set(names)) == len(names) >= 1
        assert all(name.strip() == name != "" for name in names)
        assert all(aspect.description for aspect in features.aspects)
        if features.metric != "precomputed":
            columns = [c for aspect in features.aspects for c in aspect.columns or ()]
            assert sorted(columns) == list(range(features.X.shape[1]))
            for aspect in features.aspects:
                assert features.block(aspect.name).shape == (
                    len(features.X),
                    len(aspect.columns or ()),
                )

    def test_recipes_are_plain_and_describe_things_as_before(self, tmp_path: Path) -> None:
        source = self.write(tmp_path, is_changed=False)
        features = self.open(source).features()
        kept = json.dumps([a.to_dict() for a in features.aspects], default=array_to_json)
        aspects = [Aspect.from_dict(plain) for plain in from_json(json.loads(kept))]
        again = self.open(source).features(aspects=aspects)
        assert np.array_equal(again.X, features.X)
        assert [a.columns for a in again.aspects] == [a.columns for a in features.aspects]

    def test_the_hash_changes_where_the_content_does(self, tmp_path: Path) -> None:
        before = self.open(self.write(tmp_path, is_changed=False)).content_hashes()
        after = self.open(self.write(tmp_path, is_changed=True)).content_hashes()
        assert after.keys() == before.keys()
        assert sum(after[name] != before[name] for name in before) == 1

    def test_groups_are_summed_up_in_words(self, tmp_path: Path) -> None:
        items = self.open(self.write(tmp_path, is_changed=False))
        for members in ([0], [1, 2], list(range(items.n))):
            assert len(items.sum_up(members).splitlines()) <= 1
        assert all(len(column) == items.n for column in items.columns().values())

    def test_the_kind_is_known_by_its_name(self, tmp_path: Path) -> None:
        source = self.write(tmp_path, is_changed=False)
        items = self.open(source)
        assert KINDS.find(items.kind) is type(items)
        assert items.noun
        assert str(items.n) in repr(items)
