"""The numbers printed in the paper, shown beside ours.

T. Van Craenendonck, S. Dumančić, H. Blockeel, "COBRA: A Fast and Simple Method for Active
Clustering with Pairwise Constraints", IJCAI 2017.
"""

from __future__ import annotations

from likewise.lab.experiments.protocol import SIZES

TABLE_1 = {
    # all pairs, random order with closure, closest pairs first, COBRA with 25 super-instances
    "iris": (10731, 409, 155, 34),
    "wine": (15753, 457, 187, 35),
    "dermatology": (63903, 1660, 379, 42),
    "hepatitis": (6216, 173, 140, 39),
    "ecoli": (56280, 1343, 440, 51),
    "optdigits389": (661825, 3380, 1164, 54),
}

TABLE_2 = {
    # with 25, 50 and 100 super-instances, tasks won by COBRA (mean margin) : lost (mean margin);
    # * where Wilcoxon's test is significant
    "MPCKM-MinMax": ("13 (0.14) : 8 (0.12)", "13 (0.16) : 8 (0.09)", "12 (0.19) : 9 (0.05)"),
    "MPCKM-NPU": ("11 (0.16) : 10 (0.11)", "17* (0.12) : 4 (0.09)", "12 (0.17) : 9 (0.06)"),
    "COSC-MinMax": ("15* (0.21) : 6 (0.05)", "16* (0.21) : 5 (0.06)", "14* (0.21) : 7 (0.04)"),
    "COSC-NPU": ("15* (0.20) : 6 (0.04)", "14* (0.23) : 7 (0.04)", "13* (0.23) : 8 (0.03)"),
}

TABLE_3 = {
    # with 25, 50 and 100 super-instances, the average rank; * where it was marked as different
    "COBRA": ("2.43", "2.14", "2.52"),
    "MPCKM-MinMax": ("3.07", "3.00*", "3.19*"),
    "MPCKM-NPU": ("3.00", "3.57*", "3.00*"),
    "COSC-MinMax": ("3.12*", "3.26*", "3.31*"),
    "COSC-NPU": ("3.40*", "3.02*", "2.98*"),
}


def printed(table: dict[str, tuple[str, str, str]], method: str, size: int) -> str | None:
    """Return the entry of Table 2 or 3 for a method and a number of super-instances, if any."""
    return table[method][SIZES.index(size)] if method in table and size in SIZES else None
