"""Words of verified questions that a semantic layer could teach: VerifiedQuestions + Linker -> NameProposals."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from nacre.records.cancellation import raise_if_cancelled
from nacre.records.verified_question import VerifiedQuestion
from nacre.understanding.linking.link_mentions import link_mentions
from nacre.understanding.linking.linker import Linker, prepare_question
from nacre.understanding.question.types import Question
from nacre.understanding.verified.align import content_words
from nacre.understanding.verified.likeness import named_elements, unaccounted_words
from nacre.understanding.verified.slots import asked_elements
from nacre.understanding.verified.template import Template, template_of

# words and characters of one name (given)
MAX_WORDS, MAX_NAME = 4, 100


@dataclass(frozen=True)
class NameProposal:
    """People say `phrase` for the class or property `iri`, which is called `label`, in these verified questions."""

    phrase: str
    iri: str
    label: str
    questions: tuple[str, ...]


def name_proposals(verified: Sequence[VerifiedQuestion], linker: Linker) -> tuple[NameProposal, ...]:
    """The phrases that nothing in the graph accounts for, each with the class or property that it must mean, those of
    most questions first.

    A question tells what a phrase means if it is the only unknown one, and if only one class or property of the
    confirmed plan is named by no other word. A phrase that would mean two things is not proposed.
    """
    found: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for each in verified:
        raise_if_cancelled()
        template = template_of(each, linker.schema)
        for phrase, iri in _taught(template, linker) if template is not None else ():
            found[phrase, iri].append(each.id)
    meanings = defaultdict(set)
    for phrase, iri in found:
        meanings[phrase].add(iri)
    proposals = [
        NameProposal(phrase, iri, _label(iri, linker), tuple(dict.fromkeys(ids)))
        for (phrase, iri), ids in found.items()
        if len(meanings[phrase]) == 1
    ]
    return tuple(sorted(proposals, key=lambda each: (-len(each.questions), each.phrase)))


def _taught(template: Template, linker: Linker) -> Iterator[tuple[str, str]]:
    """The only unknown phrase of a question, with the only element that no word names."""
    graph = linker.index.graph
    question = prepare_question(template.question.text, linker)
    if len(question.tokens) != len(template.question.tokens):
        # words were left out, so the places of names are others
        return
    links = link_mentions(question, linker.index)
    slots = [*((slot.start, slot.end) for slot in template.names), *((n.start, n.end) for n in question.numbers)]
    taken = frozenset(i for start, end in slots for i in range(start, end))
    unknown = unaccounted_words(question, links, template.elements, graph, taken)
    unknown -= {i for cue in question.cues for i in range(cue.start, cue.end)}
    others = [i for i, _ in content_words(question, taken) if i not in unknown]
    naming = {each.iri for each in linker.schema.predicates if each.role == "name"}
    asked = asked_elements(template.plan.body, naming)
    unnamed = asked - named_elements(question, links, asked, graph, others)
    phrases = list(_runs(sorted(unknown), question))
    if len(phrases) == 1 and len(unnamed) == 1:
        yield phrases[0], next(iter(unnamed))


def _runs(places: Collection[int], question: Question) -> Iterator[str]:
    """The words at these places; those next to each other are one phrase."""
    run: list[int] = []
    for i in (*places, -1):
        if run and i != run[-1] + 1:
            if len(run) <= MAX_WORDS:
                yield " ".join(question.tokens[at].lemma for at in run)[:MAX_NAME]
            run = []
        run.append(i)


def _label(iri: str, linker: Linker) -> str:
    known = linker.schema.class_of.get(iri) or linker.schema.predicate_of.get(iri)
    return known.label if known is not None else iri
