"""Drafting a layer with a model: what fails goes back once, what a person wrote stays."""

import asyncio
from pathlib import Path

from agents.model_calls import Limits
from ingestion.read.parse import parse_files
from nacre.extensions.drafting.draft_layer import LayerDraft, LayerDrafter, add_to_text, describe_graph, draft_layer
from tests.support.scripted_model import ScriptedModel

TTL = """
@prefix ex: <http://ex.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:b1 a ex:Component ; rdfs:label "Big Tom" ; ex:measure [ ex:value 350 ] ; ex:author ex:r .
ex:r a ex:Agent ; rdfs:label "Rossi" .
"""
FIRST = """
classes:
  ex:Component: {name: bell}
properties:
  weight: {of: ex:Component, path: "ex:measure/ex:amount", also: [weighs]}
  height: {of: ex:Component, path: "ex:measure/ex:high"}
"""
REPAIRED = """
properties:
  weight: {of: ex:Component, path: "ex:measure/ex:value", also: [weighs]}
"""


def drafted(tmp_path: Path, *replies: str) -> tuple[LayerDraft, list[str]]:
    (tmp_path / "g.ttl").write_text(TTL)
    model = ScriptedModel(replies=[{"layer": reply} for reply in replies])
    drafter = LayerDrafter(model, Limits())
    seen: list[str] = []
    facts = parse_files([tmp_path / "g.ttl"])
    draft = asyncio.run(
        draft_layer(
            facts,
            describe_graph(facts),
            drafter,
            tokens=5000,
            questions=["How heavy is Big Tom?"],
            on_draft=lambda draft, progress: seen.append(progress),
        )
    )
    return draft, seen


def test_entries_that_give_nothing_are_repaired_once_and_then_left_out(tmp_path: Path) -> None:
    draft, seen = drafted(tmp_path, FIRST, REPAIRED)
    assert draft.sections["properties"].keys() == {"weight"}
    assert "ex:value" in draft.sections["properties"]["weight"]["path"]
    assert [failed.key for failed in draft.failed] == ["height"]
    assert len(seen) == 2


def test_a_person_s_entries_stay(tmp_path: Path) -> None:
    draft, _ = drafted(tmp_path, FIRST, REPAIRED)
    own = "classes:\n  ex:Component: {name: church bell}  # mine\n"
    text = add_to_text(own, draft.sections)
    assert text.startswith(own)
    assert "weight" in text
    assert text.count("ex:Component") == 2
