"""Read comparisons of two counts: Question + Links -> Candidates ("has A more cars than B")."""

from collections.abc import Callable, Iterator, Sequence

from nacre.language.base import language
from nacre.records.plan import Compute, Select
from nacre.understanding.parsing.state import Candidate
from nacre.understanding.question.types import Derivation, Link, Question, Target, token_mask

# the prior of such a reading: it accounts for every word
PRIOR = 4.0
# the rule by which each side is read as a question, all of whose words are used
COUNTED_SIDES_RULE = "counted apart"

CountReader = Callable[[str], Select | None]


def read_more_than(question: Question, links: Sequence[Link], read_count: CountReader) -> Iterator[Candidate]:
    """Yield the reading of "has Ann made more jars than Bo": how many has Ann made, and how many has Bo made.

    `read_count` reads a question for a number of things; it returns None if the question asks for something else.
    """
    words, known = question.tokens, language().words
    than = next((i for i, token in enumerate(words) if token.norm in known["than"]), 0)
    more = next((i for i, token in enumerate(words[:than]) if token.norm in known["more"] | known["fewer"]), 0)
    if not more or words[0].norm not in known["asking_yes_no"]:
        return
    counted = next((link for link in links if link.kind == "class" and more < link.start and link.end <= than), None)
    first, second = _longest_name(links, 1, more), _longest_name(links, than + 1, len(words))
    if counted is None or first is None or second is None:
        return
    questions = _questions_of_sides(question, first, second, more, than)
    left, right = (read_count(each) for each in questions)
    if left is None or right is None or _size(left) != _size(right) or left == right:
        # a name may be read as a word: "more jars than IT"
        return
    body = Compute("<" if words[more].norm in known["fewer"] else ">", left, right)
    derivation = Derivation(
        targets=(Target(counted.refs[0], "count"),),
        conditions=(),
        group=(),
        order=None,
        nodes=(counted.refs[0],),
        combine="",
        covered=token_mask(0, len(words)),
        prior=PRIOR,
        trace=("compared", COUNTED_SIDES_RULE),
        links=(first, second, counted),
    )
    yield Candidate(derivation, body, 0.0, 0, 0, 0)


def _questions_of_sides(question: Question, first: Link, second: Link, more: int, than: int) -> list[str]:
    """ "How many jars has Ann made", "how many jars has Bo made"."""
    text, words = question.text, question.tokens
    things = text[words[more + 1].start : words[than].start]
    before = text[words[0].end : words[first.start].start]
    after = text[words[first.end - 1].end : words[more].start]
    rest = text[words[second.end - 1].end :]
    names = (text[words[link.start].start : words[link.end - 1].end] for link in (first, second))
    return [" ".join(f"how many {things} {words[0].text} {before} {name} {after} {rest}".split()) for name in names]


def _longest_name(links: Sequence[Link], start: int, end: int) -> Link | None:
    """The longest name of a thing, or a value, in a range of tokens."""
    inside = [link for link in links if link.kind in ("entity", "value") and start <= link.start and link.end <= end]
    return max(inside, key=lambda link: (link.end - link.start, link.score), default=None)


def _size(select: Select) -> tuple[int, int]:
    """How many things a select names, and how many filters it has."""
    return sum(bool(variable.keys) for variable in select.variables), len(select.filters)
