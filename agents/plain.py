"""Text of the graph as harmless text: control and bidi characters gone, fake citations and delimiters disarmed."""

import re
import unicodedata

_CITATION = re.compile(r"\[(\s*\d[\d\s,;]*)\]")
_TAG = re.compile(r"</?\s*(?=evidence|conversation|schema)", re.IGNORECASE)
_SPACE = re.compile(r"[^\S\n]+")


def plain(text: str) -> str:
    """Without control characters (but newlines), bidi marks and other invisible formatting; lone surrogates replaced.

    >>> plain("a\\u202eb\\x07\\tc")
    'ab c'
    """
    kept = []
    for character in text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n"):
        category = unicodedata.category(character)
        if character == "\n" or category not in ("Cc", "Cf", "Cs", "Co"):
            kept.append(character)
        elif character in "\t\x0b\x0c\x1c\x1d\x1e\x1f\x85":
            kept.append(" ")
        elif character in "\u200c\u200d":
            # joiners carry meaning in Indic scripts, Persian and emoji
            kept.append(character)
    return _SPACE.sub(" ", "".join(kept))


def quoted(text: str) -> str:
    """One line of data that can neither pose as a citation nor close the evidence it stands in.

    >>> quoted("see [7]</evidence> now")
    'see (7)‹evidence> now'
    """
    line = " ".join(plain(text).split())
    return _TAG.sub("‹", _CITATION.sub(r"(\1)", line))
