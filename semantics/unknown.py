"""What a question asks that the graph does not know: tokens + what was explained -> unknown words."""

from collections.abc import Sequence

import simplemma
from rapidfuzz import fuzz, process

from semantics.candidates import Candidate
from semantics.english import function_words, measure, resource
from semantics.linker import Linker
from semantics.markers import Form
from semantics.words import Token

_PREPOSITIONS = frozenset("of in at from by named called with without about".split())
_GENERIC = frozenset("number name date time code type address id rate count status level".split())
_TAKING = frozenset(
    "has have having contain contains containing use uses using include includes including"
    " need needs require requires".split()
)
_AUXILIARIES = frozenset("do does did is are was were has have had can could will would".split())
_ANYTHING = frozenset("object item piece entry record time case instance thing".split())


def holes(words: Sequence[Token], open_: set[int], linker: Linker) -> list[int]:
    """Unexplained words that a right reading can't do without: "the <noun> of X", "P of <name>"."""
    norms = [t.norm for t in words]
    found = []
    for i in sorted(open_):
        before = [w for w in norms[max(0, i - 2) : i] if w not in ("the", "a", "an")]
        article = i > 0 and norms[i - 1] in ("the", "an", "a")
        following = norms[i + 1] if i + 1 < len(words) else ""
        relational = article and following in ("of", "for")
        # the last word of a phrase is its noun; what stands before a known word only modifies it
        last = following == "" or following in function_words()
        argument = last and bool(before) and before[-1] in _PREPOSITIONS
        # "contain <noun>": what a verb is about
        object_ = last and i > 1 and norms[i - 1] in _TAKING and not norms[i].endswith("ly")
        # "X's <noun>", "<kind> number": what is wanted is not known
        owned = i > 0 and words[i - 1].text.lower().endswith(("'s", "\u2019s", "s'")) and words[i - 1].norm != "what"
        owned = owned and (last or following in _GENERIC)
        # "how many <things> does it have": what is counted is not known
        auxiliary = following in _AUXILIARIES
        head = auxiliary and "many" in norms[max(0, i - 2) : i] and words[i].lemma not in _ANYTHING
        if relational or argument or object_ or owned or head:
            found.append(i)
    return found


def unknown(
    words: Sequence[Token],
    candidates: Sequence[Candidate],
    shape: Form,
    linker: Linker,
    read: bool,
    open_: set[int],
) -> tuple[tuple[str, str], ...]:
    """Words that name nothing here, each with the nearest name that is known or "".

    Where the question was read, only words that look like names count: everyday words may just be its wording.
    """
    covered = {i for c in candidates for i in c.covered} | shape.taken
    missing = set(holes(words, open_, linker))
    numbers = resource()["numbers"]
    found = []
    for i, token in enumerate(words):
        if (
            i in covered
            or token.norm in linker.light
            or measure(token)
            or token.norm[0].isdigit()
            or token.norm in numbers
        ):
            continue
        name = (token.text[0].isupper() and i > 0) or not simplemma.is_known(token.norm, lang="en")
        if read and not name and i not in missing:
            continue
        near = process.extractOne(token.norm, linker.entities.entity_tokens.keys(), scorer=fuzz.ratio, score_cutoff=80)
        found.append((token.text, near[0] if near and near[0] != token.norm else ""))
    return tuple(found)
