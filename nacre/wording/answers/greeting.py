"""Reply to a greeting, thanks and the like: question + Schema -> one line."""

from nacre.language.base import language, word_map
from nacre.language.forms.nouns import join_names, plural
from nacre.language.tokens import tokenize
from nacre.records.plan import Variable
from nacre.records.schema import Schema
from nacre.wording.labels.class_nouns import class_noun

# classes that a greeting names
MAX_CLASSES = 3


def greeting(question: str, schema: Schema) -> str:
    """A line that returns the greeting and names what can be asked about.

    >>> greeting("thanks a lot!", Schema((), (), (), (), {}, 0, 0))
    "You're welcome."
    """
    words = {token.norm for token in tokenize(question)}
    for kind, reply in word_map("wording", "replies").items():
        if words & language().words[kind]:
            return reply
    largest = sorted(schema.classes, key=lambda c: (-c.count, c.label))
    nouns = list(dict.fromkeys(plural(class_noun(Variable("x", (c.iri,)), schema)) for c in largest))[:MAX_CLASSES]
    return f"Hello! Ask me about the {join_names(nouns)} in this graph." if nouns else "Hello! Ask me about this graph."
