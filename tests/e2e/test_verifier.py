"""How many wrong sentences the gate lets through: right ones over three graphs, each with one claim changed."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random

import pytest

from agents.answering.grounding_gate import GroundingGate, ShownEvidence
from graph.builder import Composition, compose
from ingestion.pipeline import ingest
from nacre.checking.claims import FindGraphNames
from nacre.checking.evidence_index import EvidenceIndex
from nacre.config.settings import Settings
from nacre.language.tokens import name_tokens
from nacre.understanding.mentions import name_spans
from nacre.wording.plan_phrases import predicate_words
from tests.support import mutations
from tests.support.right_sentences import Right, answered, templated

FIXTURES = Path(__file__).parents[1] / "fixtures"
GRAPHS = ("museum", "university", "archipelago")
CAUGHT = 0.95
FLAGGED = 0.01
# what is changed, and of how many sentences at least
LEAST = {"digit": 200, "unit": 100, "name": 200, "property": 200, "date": 50, "yes or no": 50, "citation": 200}
# sentences of a kind that are tried
MOST = 300


@pytest.fixture(scope="module")
def composition(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Composition]:
    data = tmp_path_factory.mktemp("graphs")
    for name in GRAPHS:
        ingest([str(FIXTURES / f"graphs/{name}.ttl")], name, data=data)
    composition = compose(Settings(data=data, embedder="none", _env_file=None))
    yield composition
    composition.library.close()


@pytest.fixture(scope="module")
def right(composition: Composition) -> list[Right]:
    told = [*answered(composition, GRAPHS, FIXTURES / "questions"), *templated(composition, GRAPHS, Random(7))]
    return list({(case.graph, case.text): case for case in told}.values())


@pytest.fixture(scope="module")
def known(composition: Composition) -> dict[str, FindGraphNames]:
    """For each graph what finds its names in a sentence."""
    return {name: partial(name_spans, lexicon=composition.library.open(name).lexicon) for name in GRAPHS}


@pytest.fixture(scope="module")
def wrong(composition: Composition, right: list[Right]) -> dict[str, list[tuple[Right, str, tuple[int, ...]]]]:
    """By kind: the right sentence, what was made of it, and what it cites."""
    random = Random(11)
    made: dict[str, list[tuple[Right, str, tuple[int, ...]]]] = {kind: [] for kind in LEAST}
    for name in GRAPHS:
        lexicon = composition.library.open(name).lexicon
        names = sorted({n.label for n in lexicon.each() if n.kind == "entity" and n.weight >= 0 and len(n.label) > 2})
        facts = [p.iri for p in lexicon.schema.predicates if p.role == "fact"]
        properties = sorted({predicate_words(iri, lexicon.schema) for iri in facts})
        for case in right:
            if case.graph == name:
                for text in (case.text, *mutations.reworded(case.text)):
                    for kind, bad in mutations.mutants(text, names, properties, random):
                        made[kind].append((case, bad, case.cited))
                others = [i for i in range(len(case.evidence)) if not is_right_too(case, i)]
                made["citation"] += [(case, case.text, (i,)) for i in random.sample(others, min(2, len(others)))]
    return made


def is_right_too(case: Right, index: int) -> bool:
    """Whether evidence that a sentence does not cite has every word of it too, so that it could."""
    words = {word for word in name_tokens(case.text) if word not in ("the", "is", "of", "a")}
    cited, other = (EvidenceIndex([case.evidence[i]]).words for i in (case.cited[0], index))
    return index in case.cited or words & cited <= other


def fed(case: Right, text: str, cited: tuple[int, ...], known: dict[str, FindGraphNames]) -> GroundingGate:
    """The gate after a model said this, where the rules would say the right sentence."""
    gate = GroundingGate(case.evidence, lambda token: None, known[case.graph])
    shown = ShownEvidence(range(len(case.evidence)), [(case.text, case.cited)])
    numbers = "".join(f" [{i + 1}]" for i in cited)
    gate.feed(f"{text.removesuffix('.')}{numbers}.", shown)
    gate.finish(shown)
    return gate


def test_there_is_enough_to_measure(
    right: list[Right], wrong: dict[str, list[tuple[Right, str, tuple[int, ...]]]]
) -> None:
    assert len(right) >= 200
    assert {kind: len(made) >= LEAST[kind] for kind, made in wrong.items()} == dict.fromkeys(LEAST, True)


@pytest.mark.parametrize("kind", LEAST)
def test_wrong_sentences_are_caught(
    kind: str, wrong: dict[str, list[tuple[Right, str, tuple[int, ...]]]], known: dict[str, FindGraphNames]
) -> None:
    made = Random(3).sample(wrong[kind], min(MOST, len(wrong[kind])))
    missed = [(text, case.text, cited) for case, text, cited in made if not fed(case, text, cited, known).unsupported]
    print(f"{kind}: {len(made) - len(missed)} of {len(made)} caught")
    assert len(missed) <= (1 - CAUGHT) * len(made), missed


def test_right_sentences_pass(right: list[Right], known: dict[str, FindGraphNames]) -> None:
    said = [(case, text) for case in right for text in (case.text, *mutations.reworded(case.text))]
    flagged = [text for case, text in said if fed(case, text, case.cited, known).unsupported]
    print(f"untouched and reworded: {len(flagged)} of {len(said)} flagged")
    assert len(flagged) <= FLAGGED * len(said), flagged
