"""The networks that make features of faces: Inception-V3, as in the paper, and EfficientNet."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import DatasetError, MissingExtraError, needs_extra
from likewise.items.encoders import picture_encoder
from likewise.items.encoders.engine import side_by_side

INCEPTION_FILE = "inception_v3_google-0cc3c7bd.pth"
INCEPTION_SHA256 = "0cc3c7bd"  # its first digits, which are in the name of the file
INCEPTION_URL = f"https://download.pytorch.org/models/{INCEPTION_FILE}"


LITE2 = "efficientnet-lite2"
BATCH = 4
"""Small, so that values between two layers stay in the processor's cache: twice as fast as 16."""


def efficientnet_lite2(pictures: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Compute the 1280 values before the classifier of EfficientNet-Lite2."""
    encoder = picture_encoder(LITE2)
    return encoder.encode(_resized(pictures, encoder.side))


def _resized(pictures: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """Return gray pictures as squares in colors."""
    from PIL import Image

    squares = [
        Image.fromarray(one).resize((side, side), Image.Resampling.BILINEAR) for one in pictures
    ]
    return np.stack([np.asarray(one.convert("RGB")) for one in squares])


def inception_v3(pictures: NDArray[np.uint8], weights: Path) -> NDArray[np.float32]:
    """Compute the 2048 values of the second last layer of Inception-V3, as the paper does."""
    with needs_extra("features='inception-v3'", "inception"):
        import torch
    network = build_inception_v3()
    state = torch.load(weights, weights_only=True)
    # The second classifier only helps in training, and the first one comes after the features.
    state = {key: value for key, value in state.items() if not key.startswith(("AuxLogits", "fc"))}
    network.load_state_dict(state)
    network.eval().to(memory_format=torch.channels_last)
    scaled = (_resized(pictures, 299).astype(np.float32) - 127.5) / 127.5

    def compute(start: int) -> NDArray[np.float32]:
        tensor = torch.from_numpy(scaled[start : start + BATCH]).movedim(3, 1)
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
        return side_by_side(compute, range(0, len(scaled), BATCH))
    finally:
        torch.set_num_threads(n_threads)


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
        raise MissingExtraError("features='inception-v3'", "inception") from error
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
        with needs_extra("features='inception-v3'", "inception"):
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
