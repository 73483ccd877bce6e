"""How the runs went: times, what was capped or failed, which rows are stale."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pandas as pd

from likewise.lab.experiments.methods import CONTROL
from likewise.lab.experiments.plan import MIDDLE_SIZE
from likewise.lab.experiments.results import Results, line_of
from likewise.lab.experiments.runner import differences
from likewise.lab.experiments.store import KEY, Row
from likewise.lab.experiments.tables import DIFFERS, SAME, Line, Table, texts


def times_table(results: Results) -> Table | None:
    """Return run times, memory, and the time from an answer to the next question."""
    rows = results.of(results.scored)
    rows = rows[rows["cpu_seconds"] > 0]
    if not results.is_by_budget:
        rows = rows[rows["n_super_instances"] == MIDDLE_SIZE]
    lines: list[Line] = []
    for method in results.methods:
        of_method = rows[rows["method"] == method]
        for size in sorted(of_method["n_super_instances"].unique().tolist()):
            runs = of_method[of_method["n_super_instances"] == size]
            by_task = runs.groupby("task")["cpu_seconds"].mean()
            name = line_of(method, size) if results.is_by_budget else method
            line: Line = {"method": name + results.mark(method), "tasks": len(by_task)}
            if runs["ms_p95"].notna().any():
                slowest = runs.nlargest(1, "ms_p95").iloc[0]
                line["ms, median"] = float(runs["ms_median"].median())
                line["ms, p95"] = float(runs["ms_p95"].median())
                line["largest p95"] = (
                    f"{slowest['ms_p95']:.1f} {slowest['task']}, {slowest['n_rows']} rows"
                )
            line["seconds"] = float(by_task.median())
            line["longest run"] = f"{by_task.max():.1f} {by_task.idxmax()}"
            line["peak memory in MB"] = float(runs["peak_mb"].max())
            line["settings"] = "; ".join(sorted({text for text in runs["settings"] if text}))
            lines.append(line)
    verdict = "" if results.is_by_budget else _times_verdict(rows)
    return Table.of(lines, "times", verdict, size=MIDDLE_SIZE)


def _times_verdict(rows: pd.DataFrame) -> str:
    by_task = rows.groupby(["method", "task"])["cpu_seconds"].mean()
    quick = [name for name in (CONTROL, "MPCKM-MinMax") if name in by_task.index]
    slowest = float(by_task.loc[quick].max()) if quick else float("nan")
    order = by_task.groupby("method").median().sort_values()
    return (
        f"{SAME if slowest < 10 else DIFFERS}: COBRA and MPCKM-MinMax take at most "
        f"{slowest:.1f} s on any task (paper: always under 10 s). From the quickest to the slowest "
        f"by their medians: {', '.join(map(str, order.index))} (paper: COBRA and MPCKM-MinMax, "
        "then COSC-MinMax, then both with NPU)."
    )


def trouble_table(results: Results) -> Table:
    """Return all cells that were capped or failed."""
    rows = results.rows
    statuses = rows["status"].tolist()
    key = [name for name in KEY if name not in ("k_shift", "budget")]
    cells = rows.loc[rows["status"] != "ok", [*key, "status", "queries", "allowed", "error"]]
    counts = cells[["queries", "allowed"]]
    whole = counts.astype("Int64").astype(object).where(counts.notna(), None)
    return Table(
        "trouble",
        frame=cells.assign(**whole),
        **texts("trouble"),
        verdict=(
            f"Of {len(statuses)} cells {statuses.count('capped')} were capped by the time limit "
            f"and {statuses.count('failed')} failed."
        ),
    )


def stale_table(results: Results) -> Table:
    """Return how many rows of which method are stale, and why."""
    stale = results.rows[results.rows["stale"] != ""]
    counts = stale.groupby(["experiment", "method", "stale"], as_index=False).size()
    n_rows = len(results.rows)
    if len(stale):
        verdict = (
            f"{len(stale)} of {n_rows} rows are stale: they may come out differently today. "
            "`likewise bench verify --restamp` shows whether they do, "
            "`likewise bench run --retry stale` makes them again."
        )
    else:
        verdict = f"All {n_rows} rows are of the code of today."
    frame = counts.rename(columns={"size": "rows", "stale": "why"})
    return Table("stale", frame=frame, **texts("stale"), verdict=verdict)


def kernels_table(rows: Sequence[Row], others: Sequence[Row]) -> Table | None:
    """Return how many rows of each method came out differently on another processor.

    Nobody can rerun all rows everywhere. What the sample says of a conclusion is the change of a
    mean: where that is below .01, no comparison of means changes in practice.
    """
    by_cell = {row.cell: row for row in rows}
    # The same kernel twice would show that rows can be made again, not what another one changes.
    others = [
        row for row in others if row.cell in by_cell and row.kernel != by_cell[row.cell].kernel
    ]
    lines: list[Line] = []
    for method in dict.fromkeys(row.method for row in others):
        pairs = [(by_cell[other.cell], other) for other in others if other.method == method]
        changes = [
            b.ari_test - a.ari_test
            for a, b in pairs
            if a.ari_test is not None and b.ari_test is not None
        ]
        if changes:
            lines.append(
                {
                    "method": method,
                    "rows": len(pairs),
                    "differ": sum(bool(differences(a, b)) for a, b in pairs),
                    "mean change of ARI": float(np.mean(changes)),
                    "largest": float(np.max(np.abs(changes))),
                }
            )
    kernels = ", ".join(sorted({row.kernel for row in others if row.kernel}))
    moved = [
        str(line["method"]) for line in lines if abs(float(line["mean change of ARI"])) >= 0.01
    ]
    verdict = (
        f"The mean ARI of {', '.join(moved)} changes by .01 or more: read their comparisons as "
        "that uncertain."
        if moved
        else "No method's mean ARI changes by .01 or more, so no comparison of means does."
    )
    return Table.of(lines, "kernels", verdict, kernels=kernels)


def versions_text(results: Results) -> str:
    """Return what the results were made with."""
    seen: dict[str, set[str]] = {}
    for text in set(results.rows["versions"]) - {""}:
        for name, version in json.loads(text).items():
            if name != "revision":
                seen.setdefault(name, set()).add(version)
    parts = [f"{name} {', '.join(sorted(versions))}" for name, versions in sorted(seen.items())]
    return "; ".join([*parts, *sorted(set(results.rows["machine"]) - {""})])
