"""The networks that make features of faces: Inception-V3, as in the paper, and EfficientNet."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import DatasetError, MissingExtraError, needs_extra
from likewise.items.images.recipes import build_efficientnet, run_network

INCEPTION_FILE = "inception_v3_google-0cc3c7bd.pth"
INCEPTION_SHA256 = "0cc3c7bd"  # its first digits, which are in the name of the file
INCEPTION_URL = f"https://download.pytorch.org/models/{INCEPTION_FILE}"


def efficientnet_lite2(pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Compute the 1280 values before the classifier of EfficientNet-Lite2."""
    return build_efficientnet("efficientnet-lite2")(pictures)


def inception_v3(pictures: NDArray[np.uint8], weights: Path) -> NDArray[np.float32]:
    """Compute the 2048 values of the second last layer of Inception-V3, as the paper does."""
    with needs_extra("features='inception-v3'", "images"):
        import torch
    network = build_inception_v3()
    state = torch.load(weights, weights_only=True)
    # The second classifier only helps in training, and the first one comes after the features.
    state = {key: value for key, value in state.items() if not key.startswith(("AuxLogits", "fc"))}
    network.load_state_dict(state)
    network.eval().to(memory_format=torch.channels_last)
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
        import torch

        models = importlib.import_module("torchvision.models")
    except (ImportError, RuntimeError) as error:  # RuntimeError: made for another torch
        raise MissingExtraError("features='inception-v3'", "images") from error
    network = models.inception_v3(
        weights=None, aux_logits=False, transform_input=False, init_weights=False
    )
    network.fc = torch.nn.Identity()
    return network


def inception_weights(download: bool) -> Path:
    """Return where the weights of Inception-V3 are, after fetching them if allowed and needed."""
    path = inception_weights_path()
    if path.is_file():
        return path
    reason = "they are not there and download=False"
    if download:
        with needs_extra("features='inception-v3'", "images"):
            import torch
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
