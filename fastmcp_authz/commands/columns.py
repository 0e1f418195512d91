"""Text in columns: side by side where there is room, and nothing is ever cut off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

_GAP = 2
_NARROWEST = 16
"""A column with less than this, and more to say, is not worth having."""


def widths(rows: Sequence[Sequence[Text]], most: int | None) -> list[int] | None:
    """How wide each column is; `None` where the room is too small for all of them.

    Args:
        rows: Their cells. The first column is never narrowed.
        most: The columns of the terminal; `None` where there is no end to them.
    """
    natural = [max(cell_len(row[column].plain) for row in rows) for column in range(len(rows[0]))]
    left = None if most is None else most - natural[0] - _GAP * (len(natural) - 1)
    if left is None or sum(natural[1:]) <= left:
        return natural
    wanted = sorted(natural[1:])
    fair = 0
    for index, each in enumerate(wanted):  # who wants less than a fair share leaves the rest to the others
        fair = left // (len(wanted) - index)
        if each > fair:
            break
        left -= each
    return None if fair < _NARROWEST else [natural[0], *(min(each, fair) for each in natural[1:])]


def in_columns(rows: Sequence[Sequence[Text]], columns: Sequence[int]) -> Iterator[Text]:
    """The lines of a table whose columns are that wide; what is wider goes on below."""
    folding = Console(width=10_000)
    for row in rows:
        cells = [
            [Text()] if not cell.plain else list(cell.wrap(folding, width, overflow="fold"))
            for cell, width in zip(row, columns, strict=True)
        ]
        for number in range(max(map(len, cells))):
            yield _line([cell[number] if number < len(cell) else Text() for cell in cells], columns)


def _line(cells: Sequence[Text], columns: Sequence[int]) -> Text:
    line = Text()
    for cell, width in zip(cells, columns, strict=True):
        cell.rstrip()
        line.append_text(cell)
        line.append(" " * (width - cell_len(cell.plain) + _GAP))
    line.rstrip()
    return line
