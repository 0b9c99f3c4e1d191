"""Read CSV and TSV: table -> a block for each row, with the column names of the first line."""

import csv
import io
from collections.abc import Iterator

from ingestion.read.documents.text import Block, DocumentText, UnreadableDocument, counted_blocks, row_text

SAMPLE = 8192
DELIMITERS = ",;\t|"


def read_table(text: str, delimiter: str = "") -> DocumentText:
    """The rows of a table; the delimiter is detected if none is given.

    Raises UnreadableDocument if it is not a table.
    """
    try:
        return DocumentText(text, counted_blocks(_rows(text, delimiter)))
    except csv.Error as error:
        raise UnreadableDocument(f"no table ({error})") from None


def _rows(text: str, delimiter: str) -> Iterator[Block]:
    starts = [0]
    lines = io.StringIO(text, newline="")

    def counted_lines() -> "list[str]":
        found = []
        for line in lines:
            starts.append(starts[-1] + len(line))
            found.append(line)
        return found

    rows = csv.reader(counted_lines(), delimiter=delimiter or _delimiter(text))
    columns = [cell.strip() for cell in next(rows, [])]
    last = rows.line_num
    for row in rows:
        words = row_text(columns, [cell.strip() for cell in row])
        if words:
            yield Block("row", starts[last], starts[rows.line_num], words)
        last = rows.line_num


def _delimiter(text: str) -> str:
    head = text[:SAMPLE]
    try:
        return csv.Sniffer().sniff(head, DELIMITERS).delimiter
    except csv.Error:
        first = head.partition("\n")[0]
        return max(DELIMITERS, key=first.count)
