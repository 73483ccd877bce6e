"""A table as an Excel workbook (.xlsx) in which text is never a formula."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape

from likewise.errors import InputError
from likewise.items.fields import as_text

MOST_ROWS = 1_048_576
"""How many rows a sheet has at most, with the one of the names."""
LONGEST_TEXT = 32_767
"""How many characters a cell has at most."""
LARGEST_WHOLE = 2**53
"""Larger whole numbers are texts, since a spreadsheet would round them."""
UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
"""What XML cannot hold, and what a spreadsheet takes for a way to write that."""

RETURN = {"\r": "&#13;"}
"""XML would turn it into a line feed."""
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CONTENT = "application/vnd.openxmlformats-officedocument.spreadsheetml"
XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
PARTS = {
    "[Content_Types].xml": (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{CONTENT}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{CONTENT}.worksheet+xml"/>'
        "</Types>"
    ),
    "_rels/.rels": (
        f'<Relationships xmlns="{RELATIONS}"><Relationship Id="rId1" '
        f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/workbook.xml": (
        f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="groups" sheetId="1" r:id="rId1"/></sheets></workbook>'
    ),
    "xl/_rels/workbook.xml.rels": (
        f'<Relationships xmlns="{RELATIONS}"><Relationship Id="rId1" '
        f'Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>'
    ),
}
"""The parts of a workbook around its one sheet."""


def workbook(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return columns as a workbook with one sheet."""
    n_rows = 1 + max(map(len, columns.values()), default=0)
    if n_rows > MOST_ROWS:
        raise InputError(f"a sheet has at most {MOST_ROWS} rows, not {n_rows}: write .csv")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in PARTS.items():
            archive.writestr(name, XML + text)
        with archive.open("xl/worksheets/sheet1.xml", "w") as sheet:
            sheet.write(f'{XML}<worksheet xmlns="{MAIN}"><sheetData>'.encode())
            for row in (tuple(columns), *zip(*columns.values(), strict=True)):
                sheet.write(f"<row>{''.join(map(_cell, row))}</row>".encode())
            sheet.write(b"</sheetData></worksheet>")
    return file.getvalue()


def _cell(value: Any) -> str:
    """Return a cell: a truth value, a number that a spreadsheet can hold, or a text."""
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float) and abs(value) < LARGEST_WHOLE:
        return f"<c><v>{value!r}</v></c>"
    text = UNFIT.sub(lambda match: f"_x{ord(match[0]):04X}_", as_text(value)[:LONGEST_TEXT])
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(text, RETURN)}</t></is></c>'
