"""Write and read standalone questions: insert the things that are meant, and take out what is only for people."""

import re
from collections.abc import Sequence

from nacre.language.base import language
from nacre.language.tokens import tokenize
from nacre.records.turn import Rewrite, Scope

# Labels that are listed before "and 2 more".
MAX_LISTED_LABELS = 4
# The description of the things or the plan in a standalone question.
_SCOPE_NOTE = re.compile(r" \((?:of|about) [^()]*\)")


def replace_reference(question: str, start: int, end: int, label: str, key: str, scope: Scope | None = None) -> Rewrite:
    """The question with the label of a thing between two positions."""
    text = question[:start] + label + question[end:]
    return Rewrite(strip_opener(text), True, scope or Scope(None, (key,), (label.removesuffix("'s"),)))


def strip_opener(question: str) -> str:
    """The question without the words that only connect it to the turn before: "and its price?" -> "Its price?"."""
    text = language().dialogue["opener"].sub("", question).strip()
    mark = "?" if question.rstrip().endswith("?") else ""
    return (text[:1].upper() + text[1:]).rstrip("?").rstrip() + mark


def adds_words(question: str, standalone: str) -> bool:
    """Whether a standalone question has words that the question has not.

    >>> adds_words("And how old is she?", "How old is Ann?"), adds_words("So, who came ?", "Who came?")
    (True, False)
    """
    return not {t.norm for t in tokenize(standalone)} <= {t.norm for t in tokenize(question)}


def strip_scope(question: str, scope: Scope | None) -> str:
    """The question without the description of its things or its plan.

    >>> strip_scope("How old are they (Ann (1), Bo)?", Scope(None, ("a", "b"), ("Ann (1)", "Bo")))
    'How old are they?'
    """
    if scope is None:
        return question
    return _SCOPE_NOTE.sub("", question.replace(f" ({format_labels(scope.labels)})", ""))


def format_labels(labels: Sequence[str]) -> str:
    """The first labels, and how many more there are.

    >>> format_labels(["a", "b", "c", "d", "e"])
    'a, b, c, d and 1 more'
    """
    listed = ", ".join(labels[:MAX_LISTED_LABELS])
    more = len(labels) - MAX_LISTED_LABELS
    return f"{listed} and {more} more" if more > 0 else listed
