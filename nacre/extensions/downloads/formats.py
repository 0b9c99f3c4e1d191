"""The record of an answer -> the bytes of a file. `page` is the address of the page, "" without a server or links.

Texts of a graph are never run: cells of a workbook are typed, CSV and Markdown are escaped.
"""

import io
import json
import math
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Literal
from urllib.parse import quote, urlencode

from nacre.extensions.places.places import LATITUDES, LONGITUDES, place_of_text
from nacre.language.sanitize import strip_control_characters
from nacre.language.tokens import iri_end
from nacre.records.answer import Answer, Citation, Value
from nacre.serving.transcript import answer_table, csv_cell, csv_text, escape_markdown

Format = Literal["xlsx", "csv", "json", "md", "ttl", "geojson"]

# limits of a workbook: characters of a cell and of a link, rows of a sheet, and numbers that a cell holds exactly
MAX_CELL, MAX_LINK, MAX_SHEET_ROWS, MAX_EXACT = 32_767, 2_079, 1_048_576, 2**53

MAX_THINGS = 50  # of a citation that are linked, as many as its rows

# a day, or a time without a zone, which no cell has
DATE = re.compile(r"\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(?::\d{2})?)?", re.ASCII)

ABSOLUTE_IRI = re.compile(r"(?:[a-z][a-z0-9+.-]*://|urn:)\S+", re.IGNORECASE | re.ASCII)

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

SOURCES = ("n", "source", "text", "basis", "thing", "query")


def write_answer(record: Answer, format: Format, page: str = "") -> bytes:
    """The file."""
    return WRITERS[format](record, page)


def thing_address(page: str, graph: str, iri: str) -> str:
    """The address that opens a thing in the page; its IRI without a page.

    >>> thing_address("https://kg.example/", "maps", "urn:x"), thing_address("", "maps", "urn:x")
    ('https://kg.example/?graph=maps&thing=urn%3Ax', 'urn:x')
    """
    return f"{page}?{urlencode({'graph': graph, 'thing': iri}, errors='replace')}" if page else iri


def _csv(record: Answer, page: str) -> bytes:
    columns, rows = answer_table(record)
    if page:
        links = _links(record, page)
        columns = [*columns, "link"]
        rows = [[*row, next((links[str(cell)] for cell in row if str(cell) in links), "")] for row in rows]
    return csv_text([columns, *rows]).encode(errors="replace")


def _json(record: Answer, page: str) -> bytes:
    cited: list[Any] = [dict(each) for each in record["citations"]]
    for each in cited if page else ():
        each["links"] = [thing_address(page, record["graph"], iri) for iri in each["keys"][:MAX_THINGS]]
    return (json.dumps({**record, "citations": cited}, ensure_ascii=False, indent=1) + "\n").encode(errors="replace")


def _markdown(record: Answer, page: str) -> bytes:
    columns, rows = answer_table(record)
    lines = [f"# {_line(record['question'])}", ""]
    if record["table"] is None:
        lines += [escape_markdown(record["answer"]), ""]
    else:
        cells = [[_line(str(csv_cell(cell))) for cell in row] for row in rows]
        heads = [_line(each) for each in columns]
        lines += [f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(columns), *cells)]
        lines.append("")
    for citation in record["citations"]:
        lines.append(f"- \\[{citation['n']}\\] {_line(citation['source'])}: {_line(citation['text'])}")
        for name, iri in _things(citation):
            # spaces and brackets would end the link
            lines.append(f"  - [{_line(name)}](<{quote(thing_address(page, record['graph'], iri), safe=':/?#=&%')}>)")
    return ("\n".join(lines) + "\n").encode(errors="replace")


def _line(text: str) -> str:
    return escape_markdown(" ".join(text.split()))


def _things(citation: Citation) -> list[tuple[str, str]]:
    """Name and IRI of the things of a citation: the first cell of their row names them if there is one of each."""
    keys = citation["keys"][:MAX_THINGS]
    named = len(citation["rows"]) == len(citation["keys"]) and citation["rows"]
    return [(str(named[i][0]) if named and named[i] else iri, iri) for i, iri in enumerate(keys)]


def _links(record: Answer, page: str) -> dict[str, str]:
    """The address of each name of a cited thing that no other one has."""
    named: dict[str, set[str]] = {}
    for citation in record["citations"]:
        for name, iri in _things(citation):
            named.setdefault(name, set()).add(iri)
    return {name: thing_address(page, record["graph"], *iris) for name, iris in named.items() if len(iris) == 1}


def _turtle(record: Answer, page: str) -> bytes:
    """The cited triples. Literals are in their lexical form, without datatype and language, as the record has them."""
    from rdflib import BNode, Graph, Literal, URIRef

    cited = [triple for citation in record["citations"] for triple in citation["triples"] if len(triple) == 3]
    # whatever else is a subject is no literal
    things = {subject for subject, _, _ in cited} | {key for each in record["citations"] for key in each["keys"]}

    def term(text: str, is_thing: bool) -> Any:
        if not is_thing:
            return Literal(strip_control_characters(text))
        # what no IRI can contain is escaped, so that nothing can end it
        return BNode(f"b{text[2:].encode(errors='replace').hex()}") if text[:2] == "_:" else URIRef(_iri(text))

    graph = Graph()
    for subject, predicate, value in cited:
        is_thing = predicate == RDF_TYPE or value in things or bool(ABSOLUTE_IRI.fullmatch(value)) or value[:2] == "_:"
        graph.add((term(subject, True), URIRef(_iri(predicate)), term(value, is_thing)))
    # comments, since the page is no statement of the graph; an address has no end of a line
    iris = dict.fromkeys(iri for citation in record["citations"] for _, iri in _things(citation) if page)
    links = "".join(f"# {thing_address(page, record['graph'], iri)}\n" for iri in iris)
    return links.encode() + graph.serialize(format="turtle", encoding="utf-8")


# a point in WKT, of which other shapes have several
POINT = re.compile(r"\s*+(?:<[^<>]*+>\s*+)?POINT *+Z?+ *+\(", re.IGNORECASE | re.ASCII)


def _geojson(record: Answer, page: str) -> bytes:
    """The cited things whose coordinates are cited too, as points (RFC 7946: longitude, latitude)."""
    places: dict[str, dict[str, float]] = {}
    names: dict[str, str] = {}
    cited = [triple for citation in record["citations"] for triple in citation["triples"] if len(triple) == 3]
    for subject, predicate, value in cited:
        end = iri_end(predicate).lower()
        if end in LATITUDES | LONGITUDES and re.fullmatch(r"[+-]?\d{1,3}(\.\d*)?", value, re.ASCII):
            places.setdefault(subject, {})["lat" if end in LATITUDES else "long"] = float(value)
        elif end == "aswkt" and POINT.match(value) and (place := place_of_text(value)) is not None:
            places[subject] = dict(zip(("lat", "long"), place, strict=True))
        elif end in ("label", "name", "preflabel", "title"):
            names.setdefault(subject, value)
    # a geometry is a node of its own
    places |= {s: places[o] for s, _, o in cited if o in places and s not in places}
    features = [
        {
            "type": "Feature",
            "id": iri,
            "geometry": {"type": "Point", "coordinates": [known["long"], known["lat"]]},
            "properties": {"name": names.get(iri, iri), "page": thing_address(page, record["graph"], iri)},
        }
        for iri, known in sorted(places.items())
        if len(known) == 2 and not iri.startswith("_:")
    ]
    collection = {"type": "FeatureCollection", "features": features}
    return (json.dumps(collection, ensure_ascii=False) + "\n").encode(errors="replace")


def _iri(text: str) -> str:
    return re.sub(r"[\x00-\x20<>\"{}|^`\\\ud800-\udfff]", lambda found: quote(found[0], errors="replace"), text)


def _workbook(record: Answer, page: str) -> bytes:
    import xlsxwriter

    out = io.BytesIO()
    # texts are written as texts in any case; a link must not be made of one
    book = xlsxwriter.Workbook(out, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    bold = book.add_format({"bold": True})
    forms = [book.add_format({"num_format": form}) for form in ("yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss")]

    def sheet(name: str, heads: Sequence[str], rows: Sequence[Sequence[Value | None]]) -> Any:
        made = book.add_worksheet(name)
        for y, row in enumerate([heads, *rows][:MAX_SHEET_ROWS]):
            for x, value in enumerate(row):
                _write_cell(made, y, x, value, bold if y == 0 else None, forms)
        made.freeze_panes(1, 0)
        made.autofit()
        return made

    sheet("Answer", *answer_table(record))
    rows: list[list[Value | None]] = []
    addresses: list[str] = []
    for citation in record["citations"]:
        query = "" if citation["query"] is None else record["queries"][citation["query"]]["text"]
        for name, iri in _things(citation) or [("", "")]:
            rows.append([citation["n"], citation["source"], citation["text"], citation["basis"], name, query])
            addresses.append(thing_address(page, record["graph"], iri) if iri else "")
    sources = sheet("Sources", SOURCES, rows)
    for y, address in enumerate(addresses, 1):
        if re.match(r"https?://", address) and len(address) <= MAX_LINK:
            sources.write_url(y, SOURCES.index("thing"), address, string=_text(str(rows[y - 1][4]))[:MAX_LINK])
    about = ("question", "standalone", "answer", "status", "confidence", "reason", "graph", "version")
    sheet("About", ("field", "value"), [(name, record[name]) for name in about])  # type: ignore[literal-required]
    book.close()
    return out.getvalue()


def _write_cell(sheet: Any, y: int, x: int, value: Value | None, format: Any, forms: Sequence[Any]) -> None:
    """A number, a boolean, a date or a text; never a formula or a link."""
    if value is None:
        return
    if isinstance(value, bool):
        sheet.write_boolean(y, x, value, format)
    elif isinstance(value, int | float) and math.isfinite(value) and abs(value) <= MAX_EXACT:
        sheet.write_number(y, x, value, format)
    elif isinstance(value, str) and y and (date := _date(value)):
        sheet.write_datetime(y, x, date, forms["T" in value])
    else:
        sheet.write_string(y, x, _text(str(value)), format)


def _text(text: str) -> str:
    return text[:MAX_CELL].encode(errors="replace").decode()


def _date(text: str) -> datetime | None:
    """A day or time that a workbook can have: it counts from 1900, and wrongly in the first two months.

    >>> _date("1899-12-31"), _date("2020-02-30"), str(_date("2020-01-31T09:30"))
    (None, None, '2020-01-31 09:30:00')
    """
    try:
        return datetime.fromisoformat(text) if DATE.fullmatch(text) and text >= "1900-03-01" else None
    except ValueError:
        return None


WRITERS: dict[Format, Callable[[Answer, str], bytes]] = {
    "xlsx": _workbook,
    "csv": _csv,
    "json": _json,
    "md": _markdown,
    "ttl": _turtle,
    "geojson": _geojson,
}
