"""Draft a layer with a model: Facts + drafter -> entries, in a few calls within a budget of tokens.

Each call shows some classes. What the model writes is checked against the graph; what fails goes back once with the
reason, and what fails again is left out and listed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.layer_drafter import LayerDrafter
from agents.models.limits import CHARACTERS_PER_TOKEN
from agents.result import NO_USAGE, Usage
from ingestion.layer.apply import apply_layers
from ingestion.layer.drafting.check_draft import CheckedDraft, FailedEntry, check_draft, merge_sections
from ingestion.layer.drafting.describe_graph import GraphText
from ingestion.layer.drafting.layer_text import layer_text
from ingestion.layer.entries import ClassEntry, PropertyEntry
from ingestion.read.capsules import Facts
from ingestion.vocabulary import local_name
from nacre.errors import IngestionError

# tokens that one call reads of a graph: the drafts of ten graphs took 5,000 to 25,000 (measured)
CALL_TOKENS = 20_000
MAX_CALLS = 4
# characters of what packs give already (given)
MAX_GIVEN = 8000


@dataclass
class LayerDraft:
    """The entries so far, those that were left out, and what the calls took."""

    sections: dict[str, Any] = field(default_factory=dict)
    failed: list[FailedEntry] = field(default_factory=list)
    usage: Usage = NO_USAGE

    def has(self, entry: FailedEntry) -> bool:
        """Whether an entry with this key was repaired."""
        return entry.section != "rules" and entry.key in self.sections.get(entry.section, {})


OnDraft = Callable[[LayerDraft, str], None]


def plan_calls(text: GraphText, tokens: int) -> tuple[list[str], int]:
    """The descriptions that the calls show, within a budget of tokens; and how many classes are left out."""
    size = min(tokens, CALL_TOKENS) * CHARACTERS_PER_TOKEN
    calls: list[list[str]] = [[]]
    left = tokens * CHARACTERS_PER_TOKEN
    shown = 0
    for each in text.classes:
        part = each[:size]
        if len(part) > left or (len(calls) == MAX_CALLS and sum(map(len, calls[-1])) + len(part) > size):
            break
        if calls[-1] and sum(map(len, calls[-1])) + len(part) > size:
            calls.append([])
        calls[-1].append(part)
        left -= len(part)
        shown += 1
    return ["\n\n".join(call) for call in calls if call], len(text.classes) - shown


async def draft_layer(
    facts: Facts,
    text: GraphText,
    drafter: LayerDrafter,
    *,
    tokens: int,
    questions: Sequence[str],
    on_draft: OnDraft,
) -> LayerDraft:
    """Draft, check and repair; `text` describes the facts, `on_draft` is called with what is there after each call.
    Raises ModelFailed."""
    calls, _ = plan_calls(text, tokens)
    given = _given_by_packs(facts)
    draft = LayerDraft()
    for number, shown in enumerate(calls, 1):
        present = "\n".join(filter(None, (given, layer_text(draft.sections))))
        reply = await drafter.draft(shown, _prefix_lines(text.prefixes), present, questions)
        draft.usage += reply.usage
        checked = _checked(reply.value, text.prefixes, facts, draft)
        on_draft(draft, f"call {number} of {len(calls)}: {checked.count} entries, {len(checked.failed)} to repair")
        failed = checked.failed
        if failed:
            again = await drafter.repair(shown, _prefix_lines(text.prefixes), [(f.text, f.reason) for f in failed])
            draft.usage += again.usage
            repaired = _checked(again.value, text.prefixes, facts, draft)
            again_failed = {(f.section, f.key) for f in repaired.failed}
            draft.failed += repaired.failed
            draft.failed += [f for f in failed if not draft.has(f) and (f.section, f.key) not in again_failed]
            on_draft(draft, f"repair of call {number}: {repaired.count} entries, {len(repaired.failed)} left out")
    return draft


def _checked(text: str, prefixes: Mapping[str, str], facts: Facts, draft: LayerDraft) -> CheckedDraft:
    """Check a reply and add its entries to the draft. A reply that is no YAML is one failed entry."""
    try:
        checked = check_draft(text, prefixes, facts, draft.sections)
    except IngestionError as error:
        return CheckedDraft({}, [FailedEntry("", "", text, str(error))])
    draft.sections = merge_sections(draft.sections, checked.sections)
    return checked


def _given_by_packs(facts: Facts) -> str:
    """What packs say of the graph already, a line for each entry that has an effect."""
    applied = apply_layers(facts, ())
    lines = []
    for index, entry in enumerate(applied.layer.entries):
        if not isinstance(entry, ClassEntry | PropertyEntry) or applied.counts.get(index) == 0 or entry.hidden:
            continue
        of = f" of {', '.join(map(local_name, entry.of))}" if isinstance(entry, PropertyEntry) and entry.of else ""
        words = f" ({', '.join(entry.also)})" if entry.also else ""
        lines.append(f"{entry.name or local_name(entry.iri)}{of}{words}")
    return "\n".join(("# from packs of vocabularies:", *lines))[:MAX_GIVEN] if lines else ""


def _prefix_lines(prefixes: Mapping[str, str]) -> str:
    return "\n".join(f"{prefix}: {iri}" for prefix, iri in sorted(prefixes.items()))
