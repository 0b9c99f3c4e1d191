"""Generate a fictional ferry company: a seed -> a graph, and documents of about 200 pages in four formats.

    python -m evaluation.ferry FOLDER [--seed N]

Writes FOLDER/ferry.ttl and FOLDER/texts with Markdown, HTML, PDF and Word files. The answer to each question of
`ferry_questions.jsonl` occurs once, in the document of its subject, among pages about other ships and ports.
"""

import argparse
import calendar
import html
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

HERE = Path(__file__).parent
DOCUMENTS = 72
WORDS_A_PAGE = 330
PAGES = 200
BASE = "http://ferry.example/"

Section = tuple[str, str]


class FerryDocument(NamedTuple):
    """A title, and sections of a heading and its paragraphs, which blank lines separate."""

    title: str
    parts: list[Section]


def make_ferry(folder: Path, seed: int = 7) -> int:
    """Write the graph and the documents; return the number of words of the documents."""
    data = yaml.safe_load((HERE / "ferry.yaml").read_text(encoding="utf-8"))
    chance = random.Random(seed)
    texts = folder / "texts"
    texts.mkdir(parents=True)
    (folder / "ferry.ttl").write_text(_graph(data), encoding="utf-8")
    writers: list[tuple[str, Callable[[FerryDocument, Path], None]]] = [
        ("md", write_markdown),
        ("html", write_html),
        ("pdf", write_pdf),
        ("docx", write_docx),
    ]
    words = 0
    for i, document in enumerate(make_documents(data, chance)):
        ending, write = writers[i % len(writers)]
        name = document.title.lower().replace(" ", "-")
        write(document, texts / f"{name}.{ending}")
        words += sum(len(text.split()) for _, text in document.parts)
    return words


def make_documents(data: dict[str, Any], chance: random.Random) -> list[FerryDocument]:
    """Documents about the company among prose about other things, then documents about other things only."""
    documents = []
    words = PAGES * WORDS_A_PAGE // DOCUMENTS
    for i in range(DOCUMENTS):
        own = data["told"][i] if i < len(data["told"]) else None
        title = own["title"] if own else f"{chance.choice(data['others']['ships'])} papers {i}"
        parts = [(heading, text) for heading, text in own["parts"]] if own else []
        while sum(len(text.split()) for _, text in parts) < words:
            place = chance.randrange(len(parts) + 1)
            paragraphs = []
            for _ in range(chance.randrange(1, 4)):
                sentences = [_sentence(each, data["others"], chance) for each in chance.sample(data["templates"], 6)]
                paragraphs.append(" ".join(sentences))
            parts.insert(place, (f"Notes {chance.randrange(1, 400)}", "\n\n".join(paragraphs)))
        documents.append(FerryDocument(title, parts))
    return documents


def write_markdown(document: FerryDocument, path: Path) -> None:
    """Write a document as Markdown."""
    body = "".join(f"## {heading}\n\n{text}\n\n" for heading, text in document.parts)
    path.write_text(f"# {document.title}\n\n{body}", encoding="utf-8")


def write_html(document: FerryDocument, path: Path) -> None:
    """Write a document as HTML with a menu and a script."""
    body = "".join(
        f"<h2>{html.escape(heading)}</h2>\n" + "".join(f"<p>{html.escape(p)}</p>\n" for p in text.split("\n\n"))
        for heading, text in document.parts
    )
    title = html.escape(document.title)
    menu = "<nav><a href='/'>Home</a> <a href='/tickets'>Tickets</a></nav>"
    path.write_text(
        f"<!DOCTYPE html>\n<html><head><meta charset='utf-8'><title>{title}</title><style>p {{margin: 0}}</style>"
        f"</head><body>{menu}<h1>{title}</h1>\n{body}<script>var x = 1;</script></body></html>\n",
        encoding="utf-8",
    )


def write_pdf(document: FerryDocument, path: Path) -> None:
    """Write a document as PDF."""
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate

    style = getSampleStyleSheet()
    story: list[Flowable] = [Paragraph(html.escape(document.title), style["Title"])]
    for heading, text in document.parts:
        story.append(Paragraph(html.escape(heading), style["Heading2"]))
        story += [Paragraph(html.escape(each), style["BodyText"]) for each in text.split("\n\n")]
    SimpleDocTemplate(str(path), title=document.title, invariant=1).build(story)


def write_docx(document: FerryDocument, path: Path) -> None:
    """Write a document as a Word file."""
    from docx import Document as Word

    file = Word()
    file.add_heading(document.title, 0)
    for heading, text in document.parts:
        file.add_heading(heading, 2)
        for each in text.split("\n\n"):
            file.add_paragraph(each)
    file.save(str(path))


def _sentence(template: str, others: dict[str, Sequence[str]], chance: random.Random) -> str:
    port, port2 = chance.sample(list(others["ports"]), 2)
    return template.format(
        ship=chance.choice(others["ships"]),
        port=port,
        port2=port2,
        person=chance.choice(others["people"]),
        thing=chance.choice(others["things"]),
        colour=chance.choice(others["colours"]),
        month=chance.choice(calendar.month_name[1:]),
        day=chance.randrange(1, 29),
        year=chance.randrange(1930, 2021),
        n=chance.randrange(90, 700),
        few=chance.randrange(4, 60),
        deep=chance.randrange(20, 90) / 10,
        hour=chance.randrange(19, 24),
        minute=f"{chance.randrange(0, 60, 5):02}",
    )


def _graph(data: dict[str, Any]) -> str:
    lines = [
        f"@prefix : <{BASE}> .",
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .",
    ]
    for name, built, passengers, cars, length, captain, home in data["ships"]:
        lines.append(
            f':{_id(name)} a :Ship ; rdfs:label "{name}" ; :built {built} ; :passengers {passengers} ; :cars {cars} ;'
            f' :length "{length} m" ; :captain :{_id(captain)} ; :homePort :{_id(home)} .'
        )
        lines.append(f':{_id(captain)} a :Person ; rdfs:label "{captain}" .')
    for name, berths, inhabitants in data["ports"]:
        lines.append(f':{_id(name)} a :Port ; rdfs:label "{name}" ; :berths {berths} ; :inhabitants {inhabitants} .')
    for start, end, distance, minutes, fare, ship in data["routes"]:
        lines.append(
            f':{_id(start)}_{_id(end)} a :Route ; rdfs:label "{start} to {end}" ; :from :{_id(start)} ; :to :{_id(end)}'
            f' ; :distance "{distance} km" ; :duration "{minutes} min" ; :fare "{fare} EUR" ; :servedBy :{_id(ship)} .'
        )
    return "\n".join(lines) + "\n"


def _id(name: str) -> str:
    return name.replace(" ", "_")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    make_ferry(options.folder, options.seed)
