"""Walk the citations of the example's answers: every triple is in the export, every query gives its rows again."""

import asyncio
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, parse

from agents.answering.answer_record import DOUBT
from agents.answering.grounding_gate import table_claims
from graph.builder import compose
from graph.stream import stream_turn
from ingestion.index.triples import export_triples
from ingestion.pipeline import ingest
from nacre.checking.claims import unsupported_claims
from nacre.config.settings import Settings
from nacre.language.tokens import split_name
from nacre.records.answer import Answer, Citation
from nacre.records.evidence import Cell, Evidence, EvidenceSentence, Rows, Table
from nacre.stores.catalog import Graph

EXAMPLE = Path(__file__).parents[2] / "examples/bmw"
FIXTURES = Path(__file__).parents[1] / "fixtures"
SETS = re.compile(r"\b(UNION|INTERSECT|EXCEPT)\b")
CITED = re.compile(r"\s*\[(\d+)\]")


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[list[Answer], Graph]]:
    """The records of the example's questions, in the order of their conversations."""
    data = tmp_path_factory.mktemp("bmw")
    ingest([str(EXAMPLE / "kg.ttl")], "bmw", data=data)
    composition = compose(Settings(data=data, embedder="none", _env_file=None))
    app = composition.build(InMemorySaver())

    async def ask(question: str, thread: str) -> Answer:
        events = [event async for event in stream_turn(app, question, graph="bmw", thread=thread)]
        answer: Answer = events[-1][1]
        return answer

    lines = [json.loads(line) for line in (EXAMPLE / "questions_dev.jsonl").read_text().splitlines()]
    told = [asyncio.run(ask(line["question"], line["conversation"] or line["id"])) for line in lines]
    with composition.library.open("bmw") as graph:
        yield told, graph
    composition.library.close()


@pytest.fixture(scope="module")
def exported(answers: tuple[list[Answer], Graph]) -> set[tuple[str, str, str]]:
    out = io.BytesIO()
    export_triples(answers[1].tables, out)
    return {
        (written(t.subject), t.predicate.value, written(t.object)) for t in parse(out.getvalue(), RdfFormat.N_TRIPLES)
    }


def written(term: NamedNode | BlankNode | Literal | Triple) -> str:
    return f"_:{term.value}" if isinstance(term, BlankNode) else str(getattr(term, "value", term))


def test_a_text_is_cited_by_its_place(tmp_path: Path) -> None:
    texts = tmp_path / "notes.md"
    texts.write_text("# Pilaf\n\nPilaf **travels** well, in a \u201ctiffin\u201d box. It keeps for 3 days.\n", "utf-8")
    ingest([str(FIXTURES / "graphs/kitchen.ttl")], "kitchen", data=tmp_path, texts=[str(texts)])
    composition = compose(Settings(data=tmp_path, embedder="none", _env_file=None))

    async def ask(question: str) -> Answer:
        events = [event async for event in stream_turn(composition.build(), question)]
        answer: Answer = events[-1][1]
        return answer

    answer = asyncio.run(ask("In which box does the pilaf travel well?"))
    composition.library.close()
    [citation] = answer["citations"]
    place = citation["place"]
    assert place is not None
    assert place["document"].endswith(texts.name)
    stretch = texts.read_text("utf-8")
    assert stretch[place["start"] : place["end"]].replace("*", "") == citation["text"]
    assert "tiffin" in answer["answer"]


def citations(answers: tuple[list[Answer], Graph]) -> Iterator[tuple[Answer, Citation]]:
    return ((answer, citation) for answer in answers[0] for citation in answer["citations"])


def test_every_triple_is_in_the_export(answers, exported):
    cited = [tuple(triple) for _, citation in citations(answers) for triple in citation["triples"]]
    assert len(cited) > 500
    assert set(cited) <= exported


def test_every_citation_has_triples_or_says_why_not(answers):
    bare = [(a, c) for a, c in citations(answers) if not c["triples"] and "nothing" not in c["basis"]]
    # no single thing is behind a row of two sets combined
    combined = [(a, c) for a, c in bare if any(SETS.search(a["queries"][i]["text"]) for i in c["queries"])]
    assert [(a["question"], c["basis"]) for a, c in bare if (a, c) not in combined] == []
    assert all("the query as a whole" in c["basis"] for _, c in combined)


def test_every_query_gives_its_rows_again(answers):
    graph = answers[1]
    for answer, citation in citations(answers):
        # a comparison of two things is put together from their triples, by no query of its own
        if citation["columns"] and citation["queries"]:
            ran = []
            for i in citation["queries"]:
                query = answer["queries"][i]
                ran.append(graph.tables.run(query["text"], query["params"]).rows)
                assert len(ran[-1]) == query["rows"]
            missing = [row for row in citation["rows"] if not gives(citation["columns"], row, ran)]
            assert missing == [], answer["question"]


def gives(columns: list[str], row: list[Cell], ran: list[list[tuple[Cell, ...]]]) -> bool:
    """Whether a result has the row; of what is computed from two results, whether they give what was compared."""
    if columns == ["yes"]:
        return bool(row[0]) == bool(ran[0])
    if columns[1:] == ["left", "right"]:
        return all(any(cell in found for rows in ran for found in rows) for cell in row[1:])
    return any(set(row) <= set(found) for found in ran[0])


def test_every_sentence_is_in_its_passage(answers):
    graph = answers[1]
    for _, citation in citations(answers):
        if not citation["columns"] and citation["tool"] != "sql":
            passages = [passage.text for key in citation["keys"] for passage in graph.passages.by_key(key)]
            assert any(citation["text"] in text for text in passages), citation["text"]


def test_every_number_and_name_opens_to_its_source(answers):
    walked = 0
    for answer in answers[0]:
        opened = [evidence for citation in answer["citations"] for evidence in source(answer, citation, answers[1])]
        if opened:
            walked += 1
            said = answer["answer"]
            if answer["options"]:
                # what is offered to ask next claims nothing
                said, _, offered = said.partition("Or did you mean")
                assert all(option["words"] in offered for option in answer["options"])
            elif answer["status"] == "clarify":
                # nor does what is put to be confirmed
                for asked in ("I read this as ", "Is that what you meant?", DOUBT):
                    said = said.partition(asked)[0].rstrip()
            # nor does the reason why nearest facts stand instead of an answer
            bare = CITED.sub("", said.removeprefix(answer["reason"] or ""))
            # nor of which point it is not sure
            bare = re.sub(r"I am not sure [^“]*“[^”]*”[^.;]*\.", "", bare)
            told = table_claims(bare) if "\n\n| " in bare else re.split(r"(?<=[.!?])\s+(?=[A-Z])", bare)
            for sentence in told:
                # a number within a name stands in the triples by itself: one source alone may hold the whole sentence
                held = any(unsupported_claims(sentence, each) == [] for each in (opened, *([one] for one in opened)))
                held = held or computed(sentence, answer, answers[1])
                assert held, (answer["question"], sentence, unsupported_claims(sentence, opened))
    assert [answer["question"] for answer in answers[0] if answer["values"] and not answer["citations"]] == []
    # what is not understood gives nothing to open
    assert walked > 40


def computed(sentence: str, answer: Answer, graph: Graph) -> bool:
    """Whether the numbers of a sentence about a group are those of the queries that the record lists."""
    cells = {0.0}
    for query in (each for each in answer["queries"] if each["tool"] == "sql"):
        for row in graph.tables.run(query["text"], query["params"]).rows:
            cells.update(round(cell, places) for cell in row if isinstance(cell, int | float) for places in (0, 1, 2))
    for triple in (triple for each in answer["citations"] for triple in each["triples"]):
        cells.update(map(float, re.findall(r"\d+(?:\.\d+)?", triple[2].replace(",", ""))))
    said = [float(number.replace(",", "")) for number in re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", sentence)]
    about = any(each["tool"] == "sql" and not each["columns"] for each in answer["citations"])
    return about and bool(said) and set(said) <= cells


def source(answer: Answer, citation: Citation, graph: Graph) -> Iterator[Evidence]:
    """What a citation opens to, without the words that it was told in; of many rows all that its query gives."""
    # what a sentence counts are the triples of one property
    counts = Counter(triple[1] for triple in citation["triples"])
    told = [f"{count} times {predicate}" for predicate, count in counts.items()]
    told += [" ".join([*triple, split_name(re.split(r"[/#]", triple[1])[-1])]) for triple in citation["triples"]]
    labels = {p.iri: p.label for p in graph.tables.schema.predicates}
    told += [split_name(labels.get(triple[1], "")) for triple in citation["triples"]]
    yield EvidenceSentence(citation["tool"], 1, text="; ".join(told), keys=tuple(citation["keys"]))
    if citation["columns"]:
        rows = tuple(tuple(row) for row in citation["rows"])
        queries = [answer["queries"][i] for i in citation["queries"]]
        words = " ".join(query["words"] for query in queries)
        for query in queries:
            if query["rows"] > len(rows) > 1:
                ran = graph.tables.run(query["text"], query["params"])
                yield Rows("sql", 1, table=Table(tuple(ran.columns), tuple(ran.rows)), words=words)
        yield Rows("sql", 1, table=Table(tuple(citation["columns"]), rows, (), tuple(citation["units"])), words=words)
