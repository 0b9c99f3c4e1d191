"""Read a SPARQL query into tokens and write it in one canonical form: text -> tokens -> text.

Parsers differ in what they take for a comment, an escape or the end of a line. The canonical form has no comments, no
escapes outside strings and no white space but spaces and line feeds, so that every parser reads the same tokens.
Terminals are those of the SPARQL 1.1 grammar (W3C recommendation, section 19.8).
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from nacre.errors import ToolError

# rdflib, which judges a query, takes time that grows faster than its length. Measured with rdflib 7.6: a list of 240
# numbers (600 tokens) 0.6 s, 1,200 tokens 2.8 s; 40 levels of brackets exceed its recursion limit.
MAX_TOKENS, MAX_DEPTH = 600, 60

MAX_INDENT = 40

_NAME_START = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)

_NAME = _NAME_START + "_0-9\u00b7\u0300-\u036f\u203f-\u2040-"

_PREFIX = f"[{_NAME_START}](?:[{_NAME}.]*[{_NAME}])?"

_ESCAPED = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"

_LOCAL = f"(?:[{_NAME}:]|{_ESCAPED})(?:(?:[{_NAME}.:]|{_ESCAPED})*(?:[{_NAME}:]|{_ESCAPED}))?"

_TOKEN = "|".join(
    (
        r"(?P<space>[ \t\r\n]++)",
        r"(?P<comment>#[^\r\n]*)",
        r"(?P<iri><[^<>\"{}|^`\x00-\x20]*>)",
        r'(?P<long>"""(?:"{0,2}(?:[^"\\]|\\.))*+"""' + r"|'''(?:'{0,2}(?:[^'\\]|\\.))*+''')",
        r'(?P<string>"(?:[^"\\\r\n]|\\.)*+"' + r"|'(?:[^'\\\r\n]|\\.)*+')",
        f"(?P<blank>_:[{_NAME_START}_0-9](?:[{_NAME}.]*[{_NAME}])?)",
        f"(?P<pname>(?:{_PREFIX})?:(?:{_LOCAL})?)",
        f"(?P<variable>[?$][{_NAME_START}_0-9][{_NAME[:-1]}]*)",
        r"(?P<language>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)",
        r"(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+|[0-9]*\.[0-9]+|[0-9]+)",
        r"(?P<word>[A-Za-z_][A-Za-z_0-9]*)",
        r"(?P<mark>\^\^|&&|\|\||!=|<=|>=|[{}()\[\].;,|^/*?+!=<>\-])",
    )
)

_STRING_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}

_WRITTEN = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)

_ABSOLUTE = re.compile(r"<[A-Za-z][A-Za-z0-9+.\-]*:")

_PATH_MARKS = frozenset("*+?")

# functions whose parenthesis pyoxigraph wants without a space
_JOINED = frozenset({"BNODE", "COALESCE", "CONCAT"})

_OPEN, _CLOSE = frozenset("{(["), frozenset("})]")


class Token(NamedTuple):
    """A token in its canonical form. `kind` is iri, string, blank, pname, variable, language, number, word or mark;
    `gap` is what stands before it: a space, a line feed and an indent, or nothing."""

    kind: str
    text: str
    gap: str = " "


def query_tokens(text: str) -> list[Token]:
    """The tokens of a query; comments and white space are dropped, escapes are resolved.

    Raises ToolError: `syntax` for what is no token of SPARQL 1.1, `refused` for a relative IRI or a string that
    parsers would read in different ways, `too_large` for more than MAX_TOKENS tokens or MAX_DEPTH levels of brackets.
    """
    tokens: list[Token] = []
    place = depth = 0
    gap = ""
    while place < len(text):
        match = _token_pattern().match(text, place)
        if match is None:
            raise ToolError("syntax", f"The query can't be parsed as SPARQL 1.1: unexpected {text[place]!r}.")
        place, kind = match.end(), str(match.lastgroup)
        if kind in ("space", "comment"):
            gap = _line_break(match.group()) or gap or " "
            continue
        token = _canonical(kind, match.group())
        tokens.append(token._replace(gap=_gap(gap, tokens[-1] if tokens else None, token)))
        gap = ""
        if token.kind == "mark":
            depth += (token.text in _OPEN) - (token.text in _CLOSE)
        if len(tokens) > MAX_TOKENS:
            raise ToolError("too_large", f"The query has more than {MAX_TOKENS} tokens. Write a shorter one.")
        if depth > MAX_DEPTH:
            raise ToolError("too_large", f"The query has more than {MAX_DEPTH} levels of brackets. Write fewer.")
    return tokens


@cache
def _token_pattern() -> re.Pattern[str]:
    # compiled with the first query, since it takes a twentieth of the time to start
    return re.compile(_TOKEN, re.DOTALL)


def write_tokens(tokens: Sequence[Token]) -> str:
    """The canonical text of a query; the lines of the original are kept."""
    return "".join(f"{token.gap}{token.text}" for token in tokens).lstrip()


def keywords(tokens: Sequence[Token]) -> frozenset[str]:
    """The bare words of a query in upper case: keywords and names of functions, never parts of IRIs or strings.

    >>> sorted(keywords(query_tokens("select ?service { ?service <http://e.org/graph> 'from' }")))
    ['SELECT']
    """
    return frozenset(token.text.upper() for token in tokens if token.kind == "word")


def _gap(space: str, before: Token | None, token: Token) -> str:
    """What stands before a token: the white space of the original, and a space where it had none.

    rdflib has two rules of its own: it takes a # inside an IRI for a comment if another IRI follows on the same line,
    and it wants the *, + or ? of a property path to follow at once. pyoxigraph wants the parenthesis of some functions
    to follow at once.
    """
    if token.text == "(" and before is not None and before.kind == "word" and before.text.upper() in _JOINED:
        return ""
    if before is not None and before.kind == "iri" and "#" in before.text and not space.startswith("\n"):
        return "" if not space and token.text in _PATH_MARKS else "\n"
    return space or ("" if token.text in _PATH_MARKS else " ")


def _line_break(space: str) -> str:
    """A line feed and the indent of the next token, if the white space has an end of line."""
    lines = re.split(r"[\r\n]", space)
    return "\n" + " " * min(len(lines[-1]), MAX_INDENT) if len(lines) > 1 else ""


def _canonical(kind: str, text: str) -> Token:
    if kind == "iri":
        if not _ABSOLUTE.match(text):
            raise ToolError("refused", f"The IRI {text[:200]} is relative. Write the whole IRI.")
        if "\\" in text:
            raise ToolError("refused", f"The IRI {text[:200]} contains an escape. Write the character itself.")
        return Token(kind, text)
    if kind in ("string", "long"):
        width = 3 if kind == "long" else 1
        return Token("string", _write_string(_ESCAPE.sub(_resolve, text[width:-width])))
    if kind == "variable":
        return Token(kind, f"?{text[1:]}")
    return Token(kind, text)


def _resolve(match: re.Match[str]) -> str:
    short, long, other = match.groups()
    if other is None:
        point = int(short or long, 16)
        if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
            raise ToolError("syntax", f"{match.group()} is not a character.")
        return chr(point)
    if other not in _STRING_ESCAPES:
        raise ToolError("syntax", f"The query can't be parsed as SPARQL 1.1: {match.group()!r} is not an escape.")
    return _STRING_ESCAPES[other]


def _write_string(value: str) -> str:
    if re.search(r"\\[uU]", value):
        raise ToolError("refused", "A string contains a backslash before a u; parsers read it in different ways.")
    if bad := re.search(r"[\x00-\x07\x0b\x0e-\x1f\x7f\ud800-\udfff]", value):
        raise ToolError("refused", f"A string contains the control character {bad.group()!r}.")
    return f'"{"".join(_WRITTEN.get(each, each) for each in value)}"'
