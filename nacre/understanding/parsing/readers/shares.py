"""What percentage of things meet a condition: Question + Links -> Candidates, a number as a percentage of a number."""

from collections.abc import Callable, Iterator, Sequence

from nacre.language.base import language
from nacre.records.plan import Aggregate, Body, Compute, Itself, Select
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.coverage import unused_tokens
from nacre.understanding.question.types import Cue, Link, Question

SHARE_RULE = "share"
# how a property is linked whose name holds a word
_SAID = ("exact", "partial")
# readings of what is counted that are kept
MOST = 6

DeriveCandidates = Callable[[Question, list[Link]], list[Candidate]]


def read_shares(question: Question, links: Sequence[Link], derive: DeriveCandidates) -> Iterator[Candidate]:
    """Readings of "what percentage of the ships were built in Norway": how many were, of how many there are; none where
    a property is called so.

    `derive` reads a question with the links in it.
    """
    cue = max((c for c in question.cues if c.kind == SHARE_RULE), key=lambda c: c.end - c.start, default=None)
    if cue is None or _is_named(cue, question, links):
        return
    counting = question._replace(cues=tuple(_counted(question.cues, cue)))
    whole = _whole(counting, links, cue, derive)
    if whole is None:
        return
    parts = [
        c
        for c in derive(counting, list(links))
        if is_thing_count(c.body) and _of_one_kind(c, whole) and c.body != whole.body
    ]
    for part in parts[:MOST]:
        d = part.derivation
        body = Compute("%", part.body, whole.body)  # type: ignore[arg-type]
        yield part._replace(derivation=d._replace(trace=(*d.trace, SHARE_RULE)), body=body)


def _counted(cues: Sequence[Cue], share: Cue) -> Iterator[Cue]:
    """The cues with one that counts instead of that for a share."""
    yield from (c for c in cues if c.kind != SHARE_RULE and not (share.start <= c.start < share.end))
    yield Cue(share.start, share.end, "count")


def _whole(question: Question, links: Sequence[Link], cue: Cue, derive: DeriveCandidates) -> Candidate | None:
    """How many there are of what stands before the verb: "percentage of the incidents in 2023 | were"; None where some
    word of it is not understood."""
    kinds = [x for x in links if x.kind == "class" and x.start >= cue.end]
    first = min((x.end for x in kinds), default=0)
    said = next((i for i in range(cue.end, first) if i not in question.stopwords), first)
    if not any(x.kind != "property" and x.covered >> said & 1 for x in links):
        # "the percentage of votes for each party"
        return None
    words = language().words
    verbs = words["being"] | words["helping"]
    ends = (i for i, t in enumerate(question.tokens) if i >= first and t.norm in verbs)
    end = next(ends, first)
    cut = question._replace(
        tokens=question.tokens[:end],
        cues=tuple(c for c in question.cues if c.end <= end),
        numbers=tuple(n for n in question.numbers if n.end <= end),
        stopwords=frozenset(i for i in question.stopwords if i < end),
    )
    found = derive(cut, [x for x in links if x.end <= end]) if first else []
    return next((c for c in found if is_thing_count(c.body) and not unused_tokens(c, cut)), None)


def is_thing_count(body: Body) -> bool:
    """Whether nothing is asked but how many things there are."""
    if not isinstance(body, Select) or body.group or body.by or body.order or len(body.answers) != 1:
        return False
    answer = body.answers[0]
    return isinstance(answer, Aggregate) and answer.function == "count" and isinstance(answer.of, Itself)


def _of_one_kind(one: Candidate, other: Candidate) -> bool:
    return one.derivation.targets[0].ref.node == other.derivation.targets[0].ref.node


def _is_named(cue: Cue, question: Question, links: Sequence[Link]) -> bool:
    """Whether a word of the cue is one of the name of a property: "the percentage of votes"."""
    said = {i for i in range(cue.start, cue.end) if i not in question.stopwords}
    return any(x.kind == "property" and x.match in _SAID and any(x.covered >> i & 1 for i in said) for x in links)
