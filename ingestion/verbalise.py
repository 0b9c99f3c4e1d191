"""Sentences of passages: text -> one line -> spans of its sentences; sentences about one thing -> passages.

Passages have a length that suits search. Labels get their form in a sentence, with forms of "be" and lists of names."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import blake2b

from nacre.language.data import phrase_list, word_list
from nacre.records.facts import Passage, Sentence

# characters of a title, which is part of each passage and of most sentences: a third of a passage (given)
MAX_TITLE = 300

_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)

_SPACE = re.compile(r"\s+")

_UNCLEAN = re.compile(_HIDDEN.pattern + r"|[\t\n\r\u0085\u2028\u2029]|  |^\s|\s$")

# each run of stops and of spaces is tried once, from its beginning
_BREAK = re.compile(
    r"""(?<![.!?…])([.!?…]++["'”’)\]]*+)\s++(?=["'“‘(\[]*+[^\W_a-z])"""
    r"""|(?<!\s)[^\S\n]*+\n[^\S\n]*+\n\s*+|(?<=[。！？])"""
)


def clean_text(text: str) -> str:
    """A text on one line, without control characters, direction marks and double spaces.

    >>> clean_text("a\\u202eb\\n\\x07 c")
    'ab c'
    """
    if text.isprintable() and "  " not in text and text[:1] != " " != text[-1:]:
        return text
    return _SPACE.sub(" ", _HIDDEN.sub("", text)).strip() if _UNCLEAN.search(text) else text


def shorten_title(title: str) -> str:
    """A title of at most `MAX_TITLE` characters, cut between words.

    >>> shorten_title("word " * 100)[-11:]
    'word word …'
    """
    if len(title) <= MAX_TITLE:
        return title
    return title[: title.rfind(" ", MAX_TITLE // 2, MAX_TITLE - 1) + 1 or MAX_TITLE - 1] + "…"


def sentence_ends(text: str) -> Iterator[int]:
    """Where sentences may end."""
    return (match.end() for match in _BREAK.finditer(text))


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """The spans of the sentences of a text; a blank line always ends a sentence."""
    spans, start = [], 0
    for match in _BREAK.finditer(text):
        if match.group(1) is not None and _abbreviation_pattern().search(
            text[max(0, match.start() - 12) : match.start() + 1]
        ):
            continue
        spans.append((start, match.start(0) + len(match.group(1) or "")))
        start = match.end()
    spans.append((start, len(text)))
    return [trimmed for span in spans if (trimmed := _trim(text, *span))]


@cache
def _abbreviation_pattern() -> re.Pattern[str]:
    """An abbreviation at the end of a text: initials, or a known one."""
    known = "|".join(sorted(word_list("ingestion", "abbreviations")))
    return re.compile(rf"(?:^|[\s(])(?:[A-Z]\.|(?:[A-Za-z]\.){{2,}}|(?:{known})\.)$")


def _trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


PASSAGE_LENGTH = 900  # characters of a passage, about the length of the embedder's input

# characters of a key that many passages may have: requests can name no longer IRI (given)
MAX_KEY = 2000


def pack_passages(key: str, title: str, sentences: Sequence[Sentence]) -> Iterator[Passage]:
    """Pack sentences into passages of about `PASSAGE_LENGTH` characters; ids are hashes of the content. The title is
    shortened, since each passage has it, and with a key of more than `MAX_KEY` characters only the first is made."""
    title = shorten_title(title)
    if not sentences:
        return
    if sum([len(sentence[0]) + 1 for sentence in sentences]) <= PASSAGE_LENGTH:  # the usual case
        yield _passage(key, title, 0, sentences)
        return
    part: list[Sentence] = []
    size = number = 0
    for sentence in sentences:
        if part and size + len(sentence.text) > PASSAGE_LENGTH:
            yield _passage(key, title, number, part)
            if len(key) > MAX_KEY:
                return
            part, size, number = [], 0, number + 1
        part.append(sentence)
        size += len(sentence.text) + 1
    yield _passage(key, title, number, part)


def bounded_spans(text: str) -> Iterator[tuple[int, int]]:
    """The spans of a text's sentences; sentences longer than a passage are split between words."""
    for start, end in sentence_spans(text):
        while end - start > PASSAGE_LENGTH:
            space = text.rfind(" ", start, start + PASSAGE_LENGTH)
            cut = space if space > start else start + PASSAGE_LENGTH
            yield start, cut
            start = cut + (space == cut)
        if start < end:
            yield start, end


def _passage(key: str, title: str, number: int, sentences: Sequence[Sentence]) -> Passage:
    content = "\0".join([key, str(number), title, *[sentence[0] for sentence in sentences]])
    digest = blake2b(content.encode(errors="surrogatepass"), digest_size=8).digest()
    return Passage(int.from_bytes(digest, "big") >> 1, key, title, tuple(sentences))


def be_form(noun: str, many: bool) -> str:
    """The verb after "The NOUN of X".

    >>> be_form("fuel type", many=False), be_form("members", many=False), be_form("equipment", many=True)
    ('is', 'are', 'includes')
    """
    last = noun.rpartition(" ")[2].lower()
    endings = (*phrase_list("ingestion", "singular_endings"), *phrase_list("ingestion", "invariable_nouns"))
    plural = last.endswith("s") and not last.endswith(endings)
    return ("include" if plural else "includes") if many else ("are" if plural else "is")


def lower_first(text: str) -> str:
    """The text with a small first letter, unless the first word is an acronym or a single letter.

    >>> lower_first("Fuel type"), lower_first("WLTP range"), lower_first("iPhone")
    ('fuel type', 'WLTP range', 'iPhone')
    """
    return text[0].lower() + text[1:] if len(text) > 1 and text[1].islower() else text


def label_in_sentence(label: str, name: str) -> str:
    """A label in the middle of a sentence. If it is only the split `name` of the IRI, its capitals have no meaning.

    >>> label_in_sentence("fuel Type", "fuelType"), label_in_sentence("Nobel Prize", "award")
    ('fuel type', 'Nobel Prize')
    >>> label_in_sentence("WLTP Range", "WLTPRange")
    'WLTP range'
    """
    if label.replace(" ", "") == re.sub(r"[\W_]", "", name):
        return " ".join(lower_first(word) for word in label.split())
    proper = any(word[0].isupper() for word in label.split()[1:])
    return label if proper else lower_first(label)


def list_names(names: Sequence[str], more: int = 0) -> str:
    """Names as an English list, with the number of further ones.

    >>> list_names(["A", "B", "C"]), list_names(["A", "B"], 7), list_names(["seats, front", "doors"])
    ('A, B and C', 'A, B and 7 more', 'seats, front; and doors')
    """
    parts = [*names, f"{more:,} more"] if more else list(names)
    if len(parts) == 1:
        return parts[0]
    if any(", " in name for name in names):
        return f"{'; '.join(parts[:-1])}; and {parts[-1]}"
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def capitalise_sentence(text: str) -> str:
    """Capitalise a generated phrase at the start of a sentence; titles keep their first letter.

    >>> [capitalise_sentence(text) for text in ("the owner of Hamlet", "an unnamed thing", "iPhone")]
    ['The owner of Hamlet', 'An unnamed thing', 'iPhone']
    """
    return text[0].upper() + text[1:] if text.startswith(("the ", "an unnamed")) else text
