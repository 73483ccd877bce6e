"""What the paper printed, to stand beside our own figures.

T. Van Craenendonck, S. Dumančić, H. Blockeel, "COBRA: A Fast and Simple Method for Active
Clustering with Pairwise Constraints", IJCAI 2017.
"""

from __future__ import annotations

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
    # tasks won by COBRA (mean margin) : lost (mean margin); * where Wilcoxon's test is significant
    ("MPCKM-MinMax", 25): "13 (0.14) : 8 (0.12)",
    ("MPCKM-MinMax", 50): "13 (0.16) : 8 (0.09)",
    ("MPCKM-MinMax", 100): "12 (0.19) : 9 (0.05)",
    ("MPCKM-NPU", 25): "11 (0.16) : 10 (0.11)",
    ("MPCKM-NPU", 50): "17* (0.12) : 4 (0.09)",
    ("MPCKM-NPU", 100): "12 (0.17) : 9 (0.06)",
    ("COSC-MinMax", 25): "15* (0.21) : 6 (0.05)",
    ("COSC-MinMax", 50): "16* (0.21) : 5 (0.06)",
    ("COSC-MinMax", 100): "14* (0.21) : 7 (0.04)",
    ("COSC-NPU", 25): "15* (0.20) : 6 (0.04)",
    ("COSC-NPU", 50): "14* (0.23) : 7 (0.04)",
    ("COSC-NPU", 100): "13* (0.23) : 8 (0.03)",
}

TABLE_3 = {
    # average rank, and whether it was marked as different from COBRA's
    25: {
        "COBRA": (2.43, False),
        "MPCKM-NPU": (3.00, False),
        "MPCKM-MinMax": (3.07, False),
        "COSC-MinMax": (3.12, True),
        "COSC-NPU": (3.40, True),
    },
    50: {
        "COBRA": (2.14, False),
        "MPCKM-MinMax": (3.00, True),
        "COSC-NPU": (3.02, True),
        "COSC-MinMax": (3.26, True),
        "MPCKM-NPU": (3.57, True),
    },
    100: {
        "COBRA": (2.52, False),
        "COSC-NPU": (2.98, True),
        "MPCKM-NPU": (3.00, True),
        "MPCKM-MinMax": (3.19, True),
        "COSC-MinMax": (3.31, True),
    },
}
