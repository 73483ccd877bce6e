"""What the paper shows beside its comparison: questions, groups, a wrong K, curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from likewise.lab.experiments.methods import CONTROL
from likewise.lab.experiments.plan import MIDDLE_SIZE, ORDERS, STRATEGY_TASKS
from likewise.lab.experiments.results import Results, curve_of, sorted_by
from likewise.lab.experiments.statistics import answers_to_reach, area_under, bootstrap
from likewise.lab.experiments.tables import DIFFERS, IN_PART, PAPER, SAME, Line, Table

LAST_EARLY = 100
"""Up to this number of super-instances a point of a curve counts as early."""


def overview_table(parts: Mapping[str, Table | None]) -> Table | None:
    """Return, for every figure and table of the paper, whether ours is the same, and why not."""
    lines = []
    for shown in PAPER["shown"]:
        table = parts.get(shown.get("name", ""))
        made = "No rows: none were made." if table is None else table.verdict
        outcome, _, how = shown.get("verdict", made).partition(": ")
        lines.append(
            {
                "of the paper": shown["item"],
                "ours": shown.get("name", "docs"),
                "here": outcome.lower(),
                "how": f"{how[:1].upper()}{how[1:]}",
                "why": "" if outcome == SAME else shown.get("why", ""),
            }
        )
    return Table.of(lines, "paper")


def strategies_table(results: Results) -> Table | None:
    """Return Table 1: the number of questions of four strategies."""
    rows = results.of("strategies")
    asked = rows.groupby(["task", "method"])["queries"].mean().unstack()
    lines: list[Line] = []
    exact = fewer = 0
    for task in [name for name in STRATEGY_TASKS if name in asked.index]:
        ours: dict[Any, float] = asked.reindex(columns=[*ORDERS, CONTROL]).loc[task].to_dict()
        n_rows = int(rows.loc[rows["task"] == task, "n_rows"].max())
        n_pairs = n_rows * (n_rows - 1) // 2
        all_pairs, random, closest, cobra = PAPER["table_1"][task]
        exact += bool(ours[ORDERS[-1]] == closest)
        fewer += bool(ours[CONTROL] < cobra)
        lines.append(
            {
                "dataset": task,
                "instances": n_rows,
                "all pairs": f"{n_pairs} / {all_pairs} ({n_pairs - all_pairs:+d})",
                ORDERS[0]: _beside(ours[ORDERS[0]], random),
                ORDERS[1]: ours[ORDERS[1]],
                ORDERS[2]: _beside(ours[ORDERS[2]], closest),
                "COBRA, 25 super-instances": _beside(ours[CONTROL], cobra),
            }
        )
    verdict = (
        f"{IN_PART if exact == len(lines) else DIFFERS}: every step saves questions as in the "
        f"paper, and closest pairs first takes exactly the published number on {exact} of "
        f"{len(lines)} datasets. Our COBRA takes fewer questions than printed on {fewer}, and "
        "the printed random order lies near, not at, either of our two."
    )
    return Table.of(lines, "strategies", verdict)


def _beside(ours: float, published: float) -> str:
    return f"{ours:.4g} / {published:g} ({ours - published:+.4g})"


def estimates(results: Results) -> pd.DataFrame:
    """Return COBRA's mean number of questions beside the estimate N - K + K(K-1)/2."""
    rows = results.of("main", method=CONTROL).rename(columns={"n_super_instances": "size"})
    groups = rows.groupby(["size", "task"], as_index=False)
    counts = groups.agg(classes=("n_classes", "max"), asked=("queries", "mean")).dropna()
    size, classes = counts["size"], counts["classes"]
    counts.insert(3, "estimate", size - classes + classes * (classes - 1) // 2)
    return sorted_by(
        counts.assign(**{"asked / estimate": counts["asked"] / counts["estimate"]}), "size", "task"
    )


def estimate_table(results: Results) -> Table | None:
    """Return the paper's estimate of a lower bound beside the questions asked."""
    counts = estimates(results)
    ratios = counts["asked / estimate"]
    if counts.empty:
        return None
    within = float((np.log(ratios).abs() <= np.log(1.25)).mean())
    verdict = (
        f"{SAME if within > 0.5 else DIFFERS}: in {within:.0%} of the {len(ratios)} "
        f"cases COBRA asks within 25 % of the estimate (median {ratios.median():.2f} times, "
        f"at most {ratios.max():.2f} times); {int((ratios < 1).sum())} lie below it, which a "
        "class without a representative makes possible."
    )
    return Table.of(counts, "estimate", verdict)


def groups_off(results: Results) -> pd.DataFrame:
    """Return, for every run of COBRA, how many groups too many it found."""
    runs = results.of("main", method=CONTROL).dropna(subset=["groups"])
    return runs.assign(off=(runs["groups"] - runs["n_classes"]).astype(int))


def groups_table(results: Results) -> Table | None:
    """Return how many groups COBRA found against the true number."""
    runs = groups_off(results)
    if runs.empty:
        return None
    right, near = (runs["off"] == 0).mean(), (runs["off"].abs() <= 1).mean()
    lines = [
        {
            "size": size,
            "runs": len(off),
            "right": f"{(off == 0).mean():.0%}",
            "within 1": f"{(off.abs() <= 1).mean():.0%}",
            "too few": f"{(off < 0).mean():.0%}",
            "too many": f"{(off > 0).mean():.0%}",
            "least": int(off.min()),
            "most": int(off.max()),
        }
        for size, off in runs.groupby("n_super_instances")["off"]
    ]
    verdict = (
        f"{SAME if right > 0.5 and near > 0.9 else DIFFERS}: COBRA, which is not told the "
        f"number, finds it in {right:.0%} of all runs and is off by at most one in {near:.0%} "
        "(paper, without figures: most often right, otherwise very close)."
    )
    return Table.of(lines, "groups", verdict)


def wrong_k_changes(results: Results) -> pd.DataFrame:
    """Return the change of ARI by a wrong number of clusters, by method, shift and task."""
    key = ["method", "task", "fold"]
    right = results.of("main", n_super_instances=MIDDLE_SIZE)[[*key, "ari_test"]]
    both = results.of("wrong-k").merge(right, on=key, suffixes=("", "_right"))
    both["change"] = both["ari_test"] - both["ari_test_right"]
    means = both.dropna(subset=["change"]).groupby(["method", "k_shift", "task"])["change"].mean()
    return means.reset_index()


def wrong_k_table(results: Results) -> Table | None:
    """Return what a wrong number of clusters does to the competitors."""
    changes = wrong_k_changes(results)
    lines = [
        {
            "method": f"{method}{results.mark(str(method), experiment='wrong-k')}",
            "told": f"K{shift:+d}",
            "tasks": len(change),
            "mean change": bootstrap(change, is_difference=True),
            "worse": int((change < 0).sum()),
            "better": int((change > 0).sum()),
            "largest loss": float(change.min()),
            "gain": float(change.max()),
        }
        for (method, shift), change in changes.groupby(["method", "k_shift"])["change"]
    ]
    worse, total = int((changes["change"] < 0).sum()), max(len(changes), 1)
    verdict = (
        f"{SAME if worse > total / 2 else DIFFERS}: a wrong number makes {worse} of "
        f"{total} cases worse ({worse / total:.0%}; paper, without figures: the majority, "
        "often by a significant amount)."
    )
    return Table.of(lines, "wrong-k", verdict, size=MIDDLE_SIZE)


def curve_points(results: Results) -> pd.DataFrame:
    """Return the mean questions and ARI of every point of the experiment `curves`."""
    rows = results.of("curves")
    rows = rows.assign(step=rows["budget"].where(rows["budget"] > 0, rows["n_super_instances"]))
    points = rows.dropna(subset=["ari_test"]).groupby(["task", "method", "step"], as_index=False)
    means = points.agg(questions=("queries", "mean"), ARI=("ari_test", "mean"))
    return sorted_by(means, "task", "method", "step")


def curves_table(results: Results) -> Table | None:
    """Return ARI against the number of questions, and whether COBRA stays ahead."""
    points = curve_points(results)
    if points.empty:
        return None
    marked = points["method"].map(lambda name: name + results.mark(name, experiment="curves"))
    columns = {"step": "super-instances or budget"}
    frame = points.assign(method=marked).rename(columns=columns)
    return Table.of(frame, "curves", _curves_verdict(points))


def _curves_verdict(points: pd.DataFrame) -> str:
    """Check whether a method that leads with few questions leads with many, as the paper says."""
    counts = {
        choice: _ahead(points[points["method"].str.endswith((CONTROL, f"-{choice}"))])
        for choice in ("MinMax", "NPU")
    }
    stays = all(early == late for early, late in counts.values())
    any_ahead = any(early for early, _ in counts.values())
    shown = "; ".join(
        f"the {choice} competitors on {early} tasks, and at every larger size on {late} of these"
        for choice, (early, late) in counts.items()
        if points["method"].str.endswith(f"-{choice}").any()
    )
    ends = points.groupby(["method", "task"])["ARI"].agg(["first", "last"])
    gains = (ends["last"] - ends["first"]).groupby("method").mean()
    gain = ", ".join(f"{method} {value:+.2f}" for method, value in gains.items())
    return (
        f"{SAME if any_ahead and stays else DIFFERS}: with 25, 50 and 100 super-instances COBRA "
        f"is ahead of all of {shown}. From the first to the last point the ARI changes on "
        f"average by: {gain} (paper: MPCKMeans levels off early, COBRA and COSC go on on several)."
    )


def _ahead(points: pd.DataFrame) -> tuple[int, int]:
    """Return on how many tasks COBRA is ahead of all others early, and of these also late."""
    early_wins = late_wins = 0
    for _, of_task in points.groupby("task"):
        ours = of_task[of_task["method"] == CONTROL]
        others = [
            np.interp(ours["questions"], other["questions"], other["ARI"])
            for _, other in of_task[of_task["method"] != CONTROL].groupby("method")
        ]
        if ours.empty or not others:
            continue
        ahead = ours["ARI"] > np.max(others, axis=0)
        is_late = ours["step"] > LAST_EARLY
        if is_late.any() and ahead[~is_late].all():
            early_wins += 1
            late_wins += bool(ahead[is_late].all())
    return early_wins, late_wins


def common_curves(results: Results) -> pd.DataFrame:
    """Return the anytime rows of tasks and folds that every method has a curve for."""
    rows = results.of("anytime", status="ok")
    rows = rows[rows["curve"] != ""]
    counts = rows.groupby(["task", "fold"])["method"].transform("count")
    return rows[counts == rows["method"].nunique()]


def anytime_table(results: Results) -> Table | None:
    """Return the area under the curves, and the answers it takes to get nearly there."""
    lines: list[Line] = []
    for method, rows in common_curves(results).groupby("method"):
        curves = [curve_of(text) for text in rows["curve"]]
        ends = rows["allowed"].fillna(rows["queries"])
        areas = [area_under(*curve, end=end) for curve, end in zip(curves, ends, strict=True)]
        reach = np.array([answers_to_reach(*curve) for curve in curves])
        last = np.array([at[-1] for at, _ in curves])
        finals = [values[-1] for _, values in curves]
        by_task = rows.assign(area=areas, final=finals).groupby("task")[["area", "final"]].mean()
        lines.append(
            {
                "method": str(method) + results.mark(str(method), experiment="anytime"),
                "tasks": int(rows["task"].nunique()),
                "area": bootstrap(by_task["area"]),
                "final ARI": bootstrap(by_task["final"]),
                "answers to 95 %": float(np.median(reach)),
                "of all answers": f"{np.median(reach / np.maximum(last, 1)):.0%}",
            }
        )
    verdict = ""
    if lines:
        best = max(lines, key=lambda line: line["area"])
        verdict = (
            f"Of the methods that can be stopped, {best['method']} has the largest area "
            f"({best['area']})."
        )
    return Table.of(lines, "anytime", verdict, size=MIDDLE_SIZE)
