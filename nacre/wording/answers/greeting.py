"""What is said to a greeting, thanks and the like: question + Schema -> one line."""

from nacre.language.base import language
from nacre.language.forms.nouns import join_names, plural
from nacre.language.tokens import tokenize
from nacre.records.plan import Variable
from nacre.records.schema import Schema
from nacre.wording.labels.class_nouns import class_noun

_KINDS = 3
_REPLIES = (("thanking", "You're welcome."), ("farewell", "Goodbye."), ("agreeing", "All right. Ask on when you like."))


def greeting(question: str, schema: Schema) -> str:
    """A line that returns the greeting and names what can be asked about.

    >>> greeting("thanks a lot!", Schema((), (), (), (), {}, 0, 0))
    "You're welcome."
    """
    words, said = language().words, {t.norm for t in tokenize(question)}
    for kind, reply in _REPLIES:
        if said & words[kind]:
            return reply
    largest = sorted(schema.classes, key=lambda c: (-c.count, c.label))
    kinds = list(dict.fromkeys(plural(class_noun(Variable("x", (c.iri,)), schema)) for c in largest))[:_KINDS]
    return f"Hello! Ask me about the {join_names(kinds)} in this graph." if kinds else "Hello! Ask me about this graph."
