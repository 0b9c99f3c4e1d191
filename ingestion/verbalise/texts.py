"""Turn documents into passages: Markdown and plain text -> sentences that know their place."""

import glob
import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ingestion.verbalise.packing import bounded, passages
from ingestion.verbalise.wording import clean
from nacre.records.errors import IngestionError
from nacre.records.facts import Passage, Sentence

log = logging.getLogger(__name__)

MARKDOWN = frozenset({".md", ".markdown", ".mdown", ".mkd"})
PLAIN = frozenset({".txt", ".text"})
DOCUMENTS = frozenset(
    {".pdf", ".doc", ".docx", ".odt", ".rtf", ".html", ".htm", ".epub", ".ppt", ".pptx", ".rst", ".adoc", ".tex"}
)


class Document(NamedTuple):
    """A file and the name it is cited by."""

    path: Path
    name: str


class _Section(NamedTuple):
    title: str
    start: int
    end: int


def find_documents(places: Sequence[str]) -> list[Document]:
    """The documents that files, folders (searched deeply) and globs stand for, sorted by name.

    A document is named by its path from the folder that was given on, that folder included. Raises IngestionError for
    what is not there and for documents of other formats; other files of a folder are passed over.
    """
    found: dict[Path, str] = {}
    for place in places:
        for path in _expand(place):
            if path.is_dir():
                inside = [p for p in sorted(path.rglob("*")) if p.is_file() and not _hidden(p.relative_to(path))]
                readable = [p for p in inside if _readable(p)]
                if not readable:
                    raise IngestionError(f"{place}: no Markdown (.md) or text (.txt) file in this folder.")
                root = path.resolve()
                found.update(
                    {p.resolve(): f"{root.name}/{p.relative_to(path).as_posix()}".lstrip("/") for p in readable}
                )
            elif _readable(path, named=True):
                found.setdefault(path.resolve(), path.name)
    names = list(found.values())
    documents = [Document(path, name if names.count(name) == 1 else path.as_posix()) for path, name in found.items()]
    return sorted(documents, key=lambda document: document.name)


def text_passages(documents: Sequence[Document]) -> Iterator[Passage]:
    """Passages of the documents, in order; a passage ends at each heading and carries the headings as its title.

    The offsets of a sentence are characters of the decoded file, a byte order mark not counted.
    """
    for document in documents:
        text = _read(document.path)
        markdown = document.path.suffix.lower() in MARKDOWN
        title = _first_heading(text) if markdown else ""
        title = title or Path(document.name).stem.replace("_", " ").replace("-", " ")
        sections = _sections(text, title) if markdown else [_Section(title, 0, len(text))]
        for section in sections:
            yield from passages(document.name, section.title, list(_sentences(text, section, document.name, markdown)))


def _expand(place: str) -> list[Path]:
    if Path(place).exists():
        return [Path(place)]
    if glob.has_magic(place):
        if matches := sorted(glob.glob(place, recursive=True)):
            return [Path(match) for match in matches]
        raise IngestionError(f"{place}: no file matches. Check the pattern given to --texts.")
    raise IngestionError(f"{place}: no such file or folder. Check the path given to --texts.")


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _readable(path: Path, named: bool = False) -> bool:
    suffix = path.suffix.lower()
    if suffix in MARKDOWN | PLAIN:
        return True
    if named or suffix in DOCUMENTS:
        raise IngestionError(
            f"{path}: can't read {suffix or 'a file without extension'} as text, only .md and .txt files."
            f" Convert it first, for example: pandoc {path.name} -o {path.stem}.md"
        )
    log.warning("%s is no text, passed over", path)
    return False


def _read(path: Path) -> str:
    try:
        # newlines as they are, so that offsets hold in the file itself
        with path.open(encoding="utf-8-sig", newline="") as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise IngestionError(
            f"{path}: not UTF-8 text ({error.reason} at byte {error.start}). Save it as UTF-8."
        ) from None
    except OSError as error:
        raise IngestionError(f"{path}: can't be read ({error.strerror}).") from None


def _first_heading(text: str) -> str:
    match = _HEADING.search(text)
    return _plain(match.group(2)) if match else ""


def _sections(text: str, title: str) -> list[_Section]:
    """The stretches between headings; the first heading of a document is its title, not a section of its own."""
    front = _FRONT_MATTER.match(text)
    start, name, sections = front.end() if front else 0, title, []
    for heading in _HEADING.finditer(text, start):
        sections.append(_Section(name, start, heading.start()))
        said = _plain(heading.group(2))
        name = title if said in ("", title) else f"{title}: {said}"
        start = heading.end()
    return [*sections, _Section(name, start, len(text))]


def _sentences(text: str, section: _Section, document: str, markdown: bool) -> Iterator[Sentence]:
    for block_start, block_end in _blocks(text, section, markdown):
        for start, end in bounded(text[block_start:block_end]):
            raw = text[block_start + start : block_start + end]
            if said := _plain(raw) if markdown else clean(raw):
                yield Sentence(said, None, document, block_start + start, block_start + end)


def _blocks(text: str, section: _Section, markdown: bool) -> Iterator[tuple[int, int]]:
    """Paragraphs; in Markdown also each item of a list and each row of a table."""
    start = section.start
    for stop in (_MARKED if markdown else _PARAGRAPH).finditer(text, section.start, section.end):
        if text[start : stop.start()].strip():
            yield start, stop.start()
        start = stop.end()
    if text[start : section.end].strip():
        yield start, section.end


def _plain(text: str) -> str:
    """The words of a stretch of Markdown, without its marks.

    >>> _plain("See **the** [guide](http://x.org/a_b) and `code`.")
    'See the guide and code.'
    """
    text = _COMMENT.sub(" ", text)
    text = _LINK.sub(r"\1", text)
    text = _MARKS.sub("", text)
    if text.lstrip().startswith("|"):
        cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
        text = "" if all(set(cell) <= set("-: ") for cell in cells) else "; ".join(cell for cell in cells if cell)
    return clean(text.strip())


_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*\r?$", re.MULTILINE)
_FRONT_MATTER = re.compile(r"---\r?\n.*?\r?\n---[ \t]*(?:\r?\n|$)", re.DOTALL)
_PARAGRAPH = re.compile(r"\r?\n[ \t]*\r?\n\s*")
_MARKED = re.compile(r"\r?\n[ \t]*\r?\n\s*|\r?\n(?=[ \t]*(?:[-*+>][ \t]|\d+[.)][ \t]|\||```|~~~))")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_MARKS = re.compile(
    r"^[ \t]*(?:>|[-*+]|\d+[.)])[ \t]+|^[ \t]*(?:```|~~~).*$|\*\*|__|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)",
    re.MULTILINE,
)
