"""Whether one thing has more of something than another: Question + Links -> Candidates ("has A more cars than B")."""

from collections.abc import Callable, Iterator, Sequence

from nacre.language.base import language
from nacre.records.plan import Compute, Select
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.question.types import Derivation, Link, Question, Target

# what the prior of such a reading is: it says every word
SURE = 4.0

# each side is a reading of its own, all of whose words are used
COUNTED_SIDES_RULE = "counted apart"

CountReader = Callable[[str], Select | None]


def read_more_than(question: Question, links: Sequence[Link], counted: CountReader) -> Iterator[Candidate]:
    """The reading of "has Ann made more jars than Bo": how many has Ann made, and how many has Bo made.

    `counted` reads a question for a number of things; it gives None where that is not what it is, or not all of it.
    """
    words, known = question.tokens, language().words
    than = next((i for i, t in enumerate(words) if t.norm in known["than"]), 0)
    more = next((i for i, t in enumerate(words[:than]) if t.norm in known["more"] | known["fewer"]), 0)
    if not more or words[0].norm not in known["asking_yes_no"]:
        return
    kind = next((x for x in links if x.kind == "class" and more < x.start and x.end <= than), None)
    first, second = _named(links, 1, more), _named(links, than + 1, len(words))
    if kind is None or first is None or second is None:
        return
    text = question.text
    things = text[words[more + 1].start : words[than].start]
    before = text[words[0].end : words[first.start].start]
    after = text[words[first.end - 1].end : words[more].start]
    rest = text[words[second.end - 1].end :]
    sides = [
        counted(" ".join(f"how many {things} {words[0].text} {before} {name} {after} {rest}".split()))
        for name in (_text(first, question), _text(second, question))
    ]
    if sides[0] is None or sides[1] is None or _said(sides[0]) != _said(sides[1]) or sides[0] == sides[1]:
        # a name may be read as a word: "more jars than IT"
        return
    body = Compute("<" if words[more].norm in known["fewer"] else ">", sides[0], sides[1])
    derivation = Derivation(
        (Target(kind.refs[0], "count"),), (), (), None, (kind.refs[0],), "", (1 << len(words)) - 1,
        SURE, ("compared", COUNTED_SIDES_RULE), (first, second, kind),
    )  # fmt: skip
    yield Candidate(derivation, body, 0.0, 0, 0, 0)


def _named(links: Sequence[Link], start: int, end: int) -> Link | None:
    """The longest name of a thing, or a value, between two places."""
    inside = [x for x in links if x.kind in ("entity", "value") and start <= x.start and x.end <= end]
    return max(inside, key=lambda x: (x.end - x.start, x.score), default=None)


def _said(select: Select) -> tuple[int, int]:
    """How many things of a select are named, and how many conditions it has."""
    return sum(bool(v.keys) for v in select.variables), len(select.filters)


def _text(link: Link, question: Question) -> str:
    return question.text[question.tokens[link.start].start : question.tokens[link.end - 1].end]
