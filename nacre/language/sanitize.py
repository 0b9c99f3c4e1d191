"""Make text of a graph harmless: text -> text without control characters, fake citations, tags and links; and names of
files that callers send.
"""

import re
import unicodedata

# the numbers of what a sentence cites, with the space before them
CITED = re.compile(r"(?:(?<!\s)\s++)?\[(\d[\d,; ]*+)\]")

_CITATION = re.compile(r"\[(\s*\d[\d\s,;]*)\]")

# the tags that enclose data in prompts
_TAG = re.compile(
    r"<\s*/?\s*(?=evidence|before|conversation|schema|examples|names|readings|rows|seen|places|found|refused)",
    re.IGNORECASE,
)

_MARKUP = re.compile(r"<(?=[A-Za-z/!?])")
_LINK = re.compile(r"\](?=\()")
_SPACE = re.compile(r"[^\S\n]+")


def storable_text(text: str) -> str:
    """The text without lone surrogates, which a broken paste may contain and stores do not accept."""
    return text.encode(errors="replace").decode()


def strip_control_characters(text: str) -> str:
    """The text without control characters except newlines, without bidi marks and lone surrogates."""
    if text.isprintable():
        return _SPACE.sub(" ", text)
    characters = []
    for character in text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n"):
        category = unicodedata.category(character)
        if character == "\n" or category not in ("Cc", "Cf", "Cs", "Co"):
            characters.append(character)
        elif character in "\t\x0b\x0c\x1c\x1d\x1e\x1f\x85":
            characters.append(" ")
        elif character in "\u200c\u200d":
            # joiners carry meaning in Indic scripts, Persian and emoji
            characters.append(character)
    return _SPACE.sub(" ", "".join(characters))


def escape_controls(text: str, keep: str = "") -> str:
    """The text with characters that a terminal or a log reader would obey written as escapes, except those to `keep`.

    >>> escape_controls("a\\x1b[2J\\r\\nb\\u009b")
    'a\\\\x1b[2J\\\\r\\\\nb\\\\x9b'
    """
    if text.isprintable():
        return text
    return "".join(e if e.isprintable() or e in keep else e.encode("unicode_escape").decode("ascii") for e in text)


def escape_markup(text: str) -> str:
    """Plain text whose tags, links and pictures no page renders.

    >>> escape_markup("<b>5 < 6</b> ![x](http://a.example)")
    '‹b>5 < 6‹/b> ![x] (http://a.example)'
    """
    return _LINK.sub("] ", _MARKUP.sub("‹", strip_control_characters(text)))


def disarm_citations(text: str) -> str:
    """The text with its bracketed numbers in parentheses, so that none is read as a citation."""
    return _CITATION.sub(r"(\1)", text)


def quote_line(text: str) -> str:
    """One line of data that can neither imitate a citation nor close the evidence around it.

    >>> quote_line("see [7]</evidence> now")
    'see (7)‹evidence> now'
    """
    line = " ".join(strip_control_characters(text).split())
    return _TAG.sub("‹", disarm_citations(line))


def quote_lines(text: str) -> str:
    """Lines of data, each as `quote_line` returns it, with their indentation."""
    lines = text.splitlines()
    return "\n".join(" " * (len(line) - len(line.lstrip(" "))) + quote_line(line) for line in lines)


MAX_NAME = 100  # characters of the name of a file


def safe_name(name: str) -> str:
    """A name for a file on this machine: its last part, without characters that a shell or a path would obey.

    >>> safe_name("../../etc/pass wd.ttl"), safe_name("-rf *.nt"), safe_name("..")
    ('pass_wd.ttl', 'rf_.nt', 'file')
    """
    last = re.split(r"[/\\]", name)[-1]
    clean = re.sub(r"[^\w.-]+", "_", last).lstrip(".-_")
    stem, dot, ending = clean.rpartition(".")
    return (f"{_cut(stem, MAX_NAME - 12)}.{_cut(ending, 10)}" if dot and stem else _cut(clean, MAX_NAME)) or "file"


def _cut(text: str, most: int) -> str:
    """At most so many characters, and twice as many bytes, which a file system counts."""
    return text[:most].encode()[: 2 * most].decode(errors="ignore")
