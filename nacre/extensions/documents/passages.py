"""Verbalise documents: files -> passages, and the stored texts and mentions.

Blocks of a document become sentences with their places, under their headings. A mention is a thing of the graph that a
sentence names: sentence + Lexicon -> IRIs.
"""

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from ingestion.documents import Block, DocumentFile, DocumentText
from ingestion.index.passages import MAX_TITLE, bounded_spans, clean_text, pack_passages, sentence_ends
from nacre.errors import IngestionError
from nacre.extensions.documents.read_document import find_documents, load_documents
from nacre.language.thesaurus import function_words
from nacre.language.tokens import Token, tokenize
from nacre.records.evidence import Passage, Sentence
from nacre.stores.sqlite.lexicon import Lexicon, LexiconEntry
from nacre.stores.sqlite.passages import Document, DocumentMention, DocumentsWriter, SkippedDocument


def verbalise_documents(
    documents: Sequence[DocumentFile], lexicon: Lexicon, writer: DocumentsWriter, *, strict: bool = False
) -> Iterator[Passage]:
    """The passages of all readable documents that do not repeat another one; the others are recorded as skipped. If
    `strict`, raises IngestionError for the first unreadable document."""
    seen = SeenTexts()
    for (path, name, source), text, why in load_documents(documents, strict=strict):
        if text is not None and has_too_many_sentences(text):
            text, why = None, f"more than {MAX_SENTENCES:,} sentences"
            if strict:
                raise IngestionError(f"{path}: {why}. Leave out --strict to ingest the others.")
        if text is None:
            writer.skip(SkippedDocument(name, "unreadable", why))
            continue
        if same := seen.text(name, text):
            writer.skip(SkippedDocument(name, "repeated", f"says what {same} says"))
            continue
        passages = list(text_passages(name, text, seen))
        sentences = [sentence for passage in passages for sentence in passage.sentences]
        namings = [
            DocumentMention(name, sentence.start, sentence.end, thing)
            for sentence in sentences
            for thing in find_mentioned_things(sentence.text, lexicon)
        ]
        document = Document(name, document_title(name, text), source or str(path), text.text, text.pages)
        writer.add(document, dict.fromkeys(namings))
        yield from passages


def passages_of_files(places: Sequence[str]) -> Iterator[Passage]:
    """The passages of the readable documents in files, folders and globs, for what stores none."""
    seen = SeenTexts()
    for document, text, _ in load_documents(find_documents(places)):
        if text is not None:
            yield from text_passages(document.name, text, seen)


# words from which on a repeated paragraph is left out under any heading; a shorter one only under the same (given)
MIN_REPEATED_WORDS = 25

# maximum number of headings in a title: that of the document, and the nearest ones
MAX_HEADINGS = 4

# sentences of a document: a million take about 100 s and a gigabyte to search for names (measured)
MAX_SENTENCES = 1_000_000


class _Section(NamedTuple):
    title: str
    blocks: list[Block]


class SeenTexts:
    """The texts and paragraphs that occurred in the documents so far."""

    def __init__(self) -> None:
        self._texts: dict[bytes, str] = {}
        self._blocks: set[bytes] = set()

    def text(self, name: str, text: DocumentText) -> str:
        """The earlier document with the same text, "" if there is none."""
        said = _digest("\n".join(_words(text, block) for block in text.blocks if block.kind != "heading"))
        return "" if self._texts.setdefault(said, name) == name else self._texts[said]

    def block(self, title: str, words: str) -> bool:
        """Whether a paragraph repeats an earlier one."""
        form = " ".join(words.casefold().split())
        said = _digest(form if len(form.split()) >= MIN_REPEATED_WORDS else f"{title}\0{form}")
        if said in self._blocks:
            return True
        self._blocks.add(said)
        return False


def document_title(name: str, text: DocumentText) -> str:
    """The title of a document: its first top-level heading, its own metadata, a heading at its beginning, else the name
    of its file."""
    top = next((block for block in text.blocks if block.kind == "heading" and block.level == 1), None)
    if top is None and not text.title and text.blocks and text.blocks[0].kind == "heading":
        top = text.blocks[0]
    said = _words(text, top) if top else clean_text(text.title)
    return said or Path(name).stem.replace("_", " ").replace("-", " ")


def has_too_many_sentences(text: DocumentText) -> bool:
    """Whether a document has more than `MAX_SENTENCES`; no sentence is made to find out."""
    stretches = chain([text.text], (block.words for block in text.blocks))
    ends = chain.from_iterable(map(sentence_ends, stretches))
    return next(islice(ends, MAX_SENTENCES, None), None) is not None


def text_passages(name: str, text: DocumentText, seen: SeenTexts) -> Iterator[Passage]:
    """Passages of each section of a document, with the path of headings as their title; repetitions are left out. The
    offsets of a sentence are characters of the document's text."""
    for section in _sections(text, document_title(name, text)):
        sentences = [
            sentence
            for block in section.blocks
            if not seen.block(section.title, _words(text, block))
            for sentence in _sentences(text, block, name)
        ]
        yield from pack_passages(name, section.title, sentences)


def _sections(text: DocumentText, title: str) -> Iterator[_Section]:
    """The sections between headings; the heading that is the document's title starts no section."""
    path: list[tuple[int, str]] = []
    # each heading is as long as a title may be, since the title of each section repeats it
    first = title[: MAX_TITLE + 1]
    section = _Section(first, [])
    for block in text.blocks:
        if block.kind != "heading":
            section.blocks.append(block)
            continue
        if section.blocks:
            yield section
        said = _words(text, block)
        while path and path[-1][0] >= block.level:
            path.pop()
        if said and said != title:
            path.append((block.level, said[: MAX_TITLE + 1]))
        section = _Section(": ".join([first, *(words for _, words in path[-MAX_HEADINGS + 1 :])]), [])
    if section.blocks:
        yield section


def _sentences(text: DocumentText, block: Block, document: str) -> Iterator[Sentence]:
    if block.words:
        for start, end in bounded_spans(block.words):
            yield Sentence(clean_text(block.words[start:end]), None, document, block.start, block.end)
        return
    for start, end in bounded_spans(text.text[block.start : block.end]):
        raw = text.text[block.start + start : block.start + end]
        if said := _plain(raw) if text.marked else clean_text(raw):
            yield Sentence(said, None, document, block.start + start, block.start + end)


def _words(text: DocumentText, block: Block) -> str:
    raw = block.words or text.text[block.start : block.end]
    return _plain(raw) if text.marked and not block.words else clean_text(raw)


def _digest(text: str) -> bytes:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=12).digest()


def _plain(text: str) -> str:
    """The words of a stretch of Markdown, without its marks.

    >>> _plain("See **the** [guide](http://x.org/a_b) and `code`.")
    'See the guide and code.'
    """
    text = _LINK.sub(r"\1", text)
    text = _MARKS.sub("", text)
    if text.lstrip().startswith("|"):
        cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
        text = "" if all(set(cell) <= set("-: ") for cell in cells) else "; ".join(cell for cell in cells if cell)
    return clean_text(text.strip())


_LINK = re.compile(r"!?\[([^\]]{0,300})\]\([^)]{0,500}\)")

_MARKS = re.compile(
    r"^[ \t]*(?:>|[-*+]|\d+[.)])[ \t]+|^[ \t]*(?:```|~~~).*$|\*\*|__|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)",
    re.MULTILINE,
)

# a name of more things is ambiguous and not linked (given)
MAX_SAME_NAME = 3


def find_mentioned_things(text: str, lexicon: Lexicon) -> tuple[str, ...]:
    """The things whose names a sentence contains, in the order of the text; longer names take precedence. A name with a
    capital letter only matches if the sentence capitalises it too."""
    words = tokenize(text)
    found: dict[str, None] = {}
    at = 0
    while at < len(words):
        size, names = _longest(words[at:], lexicon)
        found.update((name.target, None) for name in names)
        at += size or 1
    return tuple(found)


def _longest(words: Sequence[Token], lexicon: Lexicon) -> tuple[int, list[LexiconEntry]]:
    """The number of words of the longest name at the beginning of these, and the things with that name."""
    opening = lexicon.word(words[0].norm)
    for size in range(min(len(words), opening.longest) if opening is not None else 0, 0, -1):
        norms = [word.norm for word in words[:size]]
        if all(norm.isdigit() or norm in function_words() for norm in norms):
            continue
        names = [name for name in lexicon.exact(norms) if name.kind == "entity" and _is_written(name, words[:size])]
        if names and len({name.target for name in names}) <= MAX_SAME_NAME:
            return size, names
    return 0, []


def _is_written(name: LexiconEntry, words: Sequence[Token]) -> bool:
    """Whether words are capitalised as the name is."""
    written = any(word.text[0].isupper() or word.text[0].isdigit() for word in words)
    return written or not any(c.isupper() for c in name.label)
