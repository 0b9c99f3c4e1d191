"""Clean texts and split them into sentences: text -> one line, text -> spans of its sentences."""

import re
from collections.abc import Iterator
from functools import cache

from nacre.language.base import word_list

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
    """The spans of the sentences of a text; a blank line always ends a sentence.

    >>> text = "Dr. Who has 3.5 kg. Really? Yes."
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['Dr. Who has 3.5 kg.', 'Really?', 'Yes.']
    """
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
