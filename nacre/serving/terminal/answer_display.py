"""A streaming answer on the terminal: tokens -> text, Markdown tables drawn with aligned columns."""

import re
import sys

# separators between the cells of a row; a bar inside a cell is "\|"
_BARS = re.compile(r"(?:(?<!\s)\s++)?(?<!\\)\|\s*+")


class AnswerWriter:
    """Writes tokens to stdout. On a terminal, the rows of a table are buffered until it ends and drawn with aligned
    columns; elsewhere they stay Markdown, so that the output equals the answer."""

    def __init__(self, *, draws_tables: bool) -> None:
        self.has_written = False
        self._draws_tables = draws_tables
        self._line = ""
        self._rows: list[str] = []

    def write(self, token: str) -> None:
        """Write a token, or buffer it while it may be part of a table."""
        self.has_written = True
        if not self._draws_tables:
            _write(token)
            return
        for piece in token.splitlines(keepends=True):
            self._line += piece
            if not self._line.startswith("|"):
                self._draw_table()
                _write(piece)
            elif self._line.endswith("\n"):
                self._rows.append(self._line)
            if self._line.endswith("\n"):
                self._line = ""

    def finish(self) -> None:
        """Write the buffered rows and end the line."""
        if self._line.startswith("|"):
            self._rows.append(self._line)
        if self._rows:
            self._draw_table()
        elif self.has_written:
            _write("\n")
        self._line = ""

    def _draw_table(self) -> None:
        if not self._rows:
            return
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        head, _, *rows = [table_cells(row) for row in self._rows]
        self._rows = []
        table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for index, name in enumerate(head):
            numbers = all(index < len(row) and _is_number(row[index]) for row in rows)
            table.add_column(Text(name), justify="right" if numbers else "left", overflow="fold")
        for row in rows:
            # Text, since data must not be read as markup of rich
            table.add_row(*(Text(cell) for cell in row[: len(head)]))
        Console(file=sys.stdout, highlight=False, markup=False, emoji=False).print(table)


def table_cells(row: str) -> list[str]:
    r"""The cells of a row of a Markdown table.

    >>> table_cells("| Ann \\| Co | 12 |")
    ['Ann | Co', '12']
    """
    return [cell.replace("\\|", "|") for cell in _BARS.split(row.strip())[1:-1]]


def _is_number(cell: str) -> bool:
    return bool(re.fullmatch(r"-?[\d.,\s]*\d(?:\s?%)?|", cell))


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
