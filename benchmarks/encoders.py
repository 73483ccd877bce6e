"""CPU of the networks on one thread, per picture and per text, compared with equal arithmetic.

EfficientNet-Lite0 needs 0.39 billion multiplications a picture. A product of matrices with as many
is measured in the same run, so that a busy machine is busy for both. On a quiet machine of two
cores the product takes 3.5 ms and the picture may take 6: a ratio of 1.7.
"""

import statistics
import time

import numpy as np

from benchmarks._results import felt, save
from likewise.items.encoders.networks import EfficientNetLite0, MiniLM, MultilingualUSE
from likewise.rows.threads import limited

REPEATS = 15
SIDE = 730
"""A product of two matrices of this width has 0.39 billion multiplications."""
AIM = 1.7
N_PICTURES = 4
SHORT = "Which sound card works with Windows 3.1?"
LONG = "The hard disk of my computer makes a strange noise whenever it starts. " * 30


def cases():
    """Yield what is measured, the call, how many things it is about, and the aim."""
    pictures = np.random.default_rng(0).integers(0, 256, (N_PICTURES, 224, 224, 3), dtype=np.uint8)
    network = EfficientNetLite0()
    yield "a picture, beyond decoding it", network.title, lambda: network.encode(pictures), AIM
    for make in (MiniLM, MultilingualUSE):
        encoder = make()
        for what, text in (("a short text", SHORT), ("a long text", LONG)):
            texts = [text] * N_PICTURES
            yield what, encoder.title, lambda encoder=encoder, t=texts: encoder.encode(t), ""


def cpu_ms(function):
    """Return the CPU milliseconds of a call."""
    began = time.process_time()
    function()
    return 1000 * (time.process_time() - began)


def main():
    matrix = np.random.default_rng(0).random((SIDE, SIDE), dtype=np.float32)
    rows = []
    for what, title, encode, aim in cases():
        encode()
        limit = [limited(cpu_ms, lambda: matrix @ matrix) for _ in range(REPEATS)]
        ours = [cpu_ms(encode) / N_PICTURES for _ in range(REPEATS)]
        limit += [limited(cpu_ms, lambda: matrix @ matrix) for _ in range(REPEATS)]
        row = felt(
            f"{what}, {title}",
            statistics.median(ours),
            "ms",
            "as many multiplications as a picture needs",
            statistics.median(limit),
            aim=aim,
        )
        rows.append(row)
    save("encoders", rows)


if __name__ == "__main__":
    main()
