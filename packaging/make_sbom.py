"""Write the bill of materials of the wheel (CycloneDX, PEP 770) and the list of licenses.

The wheel bundles a vocabulary and no software, so the bill names what the package needs and the
license of each, read from the metadata of the installed packages. `make sbom` runs it;
tests/packaging holds it to pyproject.toml.
"""

from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

from likewise.items.encoders import networks

ROOT = Path(__file__).parents[1]
BILL = ROOT / "packaging" / "likewise.cdx.json"
LICENSES = ROOT / "docs" / "licenses.md"
NOT_STATED = "not stated in its metadata"
WEIGHTS = {
    file.package: file.license
    for network in (*networks.PICTURES.values(), *networks.TEXTS.values())
    for file in network.weights
}
"""Licenses of packages of weights, which state them in a file."""


def needs() -> dict[str, list[str]]:
    """Return each direct dependency with the extras that bring it; none for the base install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found: dict[str, list[str]] = {name_of(need): [] for need in project["dependencies"]}
    for extra, packages in project["optional-dependencies"].items():
        for need in packages:
            if name_of(need) != project["name"]:
                found.setdefault(name_of(need), []).append(extra)
    return found


def name_of(need: str) -> str:
    """Return the normalized name of the package in a requirement."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", need)[0]).lower()


def license_of(package: str) -> str | None:
    """Return the license of an installed package by its metadata; None if it is not installed."""
    if package in WEIGHTS:
        return WEIGHTS[package]
    try:
        about: Any = metadata(package)
    except PackageNotFoundError:
        return None
    if about["License-Expression"]:
        return str(about["License-Expression"])
    named = [
        line.split(" :: ")[-1] for line in about.get_all("Classifier") or [] if "License" in line
    ]
    if named:
        return " and ".join(named)
    line = (about["License"] or "UNKNOWN").splitlines()[0].strip()
    return NOT_STATED if line == "UNKNOWN" else line


def bill(licenses: dict[str, str]) -> dict[str, Any]:
    """Return the bill of materials; without versions, since the wheel brings none of these."""
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": "pkg:pypi/likewise",
                "name": "likewise",
                "purl": "pkg:pypi/likewise",
                "licenses": [{"expression": "BSD-3-Clause AND Apache-2.0"}],
            }
        },
        "components": [
            {
                "type": "library",
                "bom-ref": f"pkg:pypi/{name}",
                "name": name,
                "purl": f"pkg:pypi/{name}",
                "scope": "optional" if extras else "required",
                "licenses": [{"license": {"name": licenses[name]}}],
            }
            for name, extras in sorted(needs().items())
        ],
        "dependencies": [
            {
                "ref": "pkg:pypi/likewise",
                "dependsOn": [f"pkg:pypi/{name}" for name in sorted(needs())],
            }
        ],
    }


def table(licenses: dict[str, str]) -> str:
    """Return the page with one line for each dependency."""
    lines = [
        "# Licenses",
        "",
        "`likewise` is BSD-3-Clause. It bundles the vocabulary of BERT (Apache-2.0), and no other",
        "software. These are the packages that it needs, with their licenses by their metadata.",
        "The wheel has the same list as a bill of materials (CycloneDX, in `*.dist-info/sboms`).",
        "",
        "| package | needed by | license |",
        "|---|---|---|",
    ]
    for name, extras in sorted(needs().items(), key=lambda item: (bool(item[1]), item[0])):
        where = ", ".join(f"`[{extra}]`" for extra in extras) or "always"
        lines.append(f"| {name} | {where} | {licenses[name]} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write both files; what is not installed keeps the license it had."""
    known: dict[str, str] = {}
    if BILL.exists():
        for component in json.loads(BILL.read_text("utf-8"))["components"]:
            known[component["name"]] = component["licenses"][0]["license"]["name"]
    licenses = {name: license_of(name) or known[name] for name in needs()}
    BILL.write_text(json.dumps(bill(licenses), indent=2) + "\n", encoding="utf-8")
    LICENSES.write_text(table(licenses), encoding="utf-8")


if __name__ == "__main__":
    main()
