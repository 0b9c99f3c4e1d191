"""Read percentages: Question + Links -> Candidates, a count as a percentage of a count ("what percentage of ships")."""

from collections.abc import Callable, Iterator, Sequence

from nacre.language.base import language
from nacre.records.plan import Aggregate, Body, Compute, Itself, Select
from nacre.understanding.parsing.coverage import unused_tokens
from nacre.understanding.parsing.state import Candidate
from nacre.understanding.question.types import Cue, Link, Question

SHARE_RULE = "share"
# matches of words with a property whose name has a word for a share
NAME_MATCHES = ("exact", "partial")
# how many readings of what is counted are kept
MAX_READINGS = 6

DeriveCandidates = Callable[[Question, list[Link]], list[Candidate]]


def read_shares(question: Question, links: Sequence[Link], derive: DeriveCandidates) -> Iterator[Candidate]:
    """Yield readings of "what percentage of the ships were built in Norway": how many were, of how many there are.

    None if a property has such a name. `derive` reads a question with its links.
    """
    shares = (cue for cue in question.cues if cue.kind == SHARE_RULE)
    share = max(shares, key=lambda cue: cue.end - cue.start, default=None)
    if share is None or _is_part_of_name(share, question, links):
        return
    counting = question._replace(cues=tuple(_count_instead(question.cues, share)))
    whole = _read_whole(counting, links, share, derive)
    if whole is None:
        return
    parts = [
        each
        for each in derive(counting, list(links))
        if is_thing_count(each.body) and _counts_same_class(each, whole) and each.body != whole.body
    ]
    for part in parts[:MAX_READINGS]:
        body = Compute("%", part.body, whole.body)  # type: ignore[arg-type]
        yield part._replace(derivation=part.derivation.apply_rule(SHARE_RULE), body=body)


def is_thing_count(body: Body) -> bool:
    """Whether a plan only asks how many things there are."""
    if not isinstance(body, Select) or body.group or body.by or body.order or len(body.answers) != 1:
        return False
    answer = body.answers[0]
    return isinstance(answer, Aggregate) and answer.function == "count" and isinstance(answer.of, Itself)


def _count_instead(cues: Sequence[Cue], share: Cue) -> Iterator[Cue]:
    """The cues with one that counts in the place of the share."""
    yield from (cue for cue in cues if cue.kind != SHARE_RULE and not (share.start <= cue.start < share.end))
    yield Cue(share.start, share.end, "count")


def _read_whole(question: Question, links: Sequence[Link], share: Cue, derive: DeriveCandidates) -> Candidate | None:
    """The count of what stands before the verb: "percentage of the incidents in 2023 | were".

    None if a word of it is not understood.
    """
    classes = [link for link in links if link.kind == "class" and link.start >= share.end]
    first = min((link.end for link in classes), default=0)
    noun = next((i for i in range(share.end, first) if i not in question.stopwords), first)
    if not any(link.kind != "property" and link.covered >> noun & 1 for link in links):
        # "the percentage of votes for each party"
        return None
    verbs = language().words["being"] | language().words["helping"]
    end = next((i for i, token in enumerate(question.tokens) if i >= first and token.norm in verbs), first)
    whole = question._replace(
        tokens=question.tokens[:end],
        cues=tuple(cue for cue in question.cues if cue.end <= end),
        numbers=tuple(number for number in question.numbers if number.end <= end),
        stopwords=frozenset(i for i in question.stopwords if i < end),
    )
    found = derive(whole, [link for link in links if link.end <= end]) if first else []
    return next((each for each in found if is_thing_count(each.body) and not unused_tokens(each, whole)), None)


def _counts_same_class(one: Candidate, other: Candidate) -> bool:
    return one.derivation.targets[0].ref.node == other.derivation.targets[0].ref.node


def _is_part_of_name(cue: Cue, question: Question, links: Sequence[Link]) -> bool:
    """Whether a word of the cue belongs to the name of a property: "the percentage of votes"."""
    content = {i for i in range(cue.start, cue.end) if i not in question.stopwords}
    properties = (link for link in links if link.kind == "property" and link.match in NAME_MATCHES)
    return any(link.covered >> i & 1 for link in properties for i in content)
