"""Derive triples by the meaning of common vocabularies: Facts -> Facts with derived triples, by `RULES` in order."""

from collections.abc import Callable, Sequence

from ingestion.meaning.codes import expand_codes, hide_empty_texts, name_translations, name_undescribed_targets
from ingestion.meaning.draft import Draft, RuleStopped
from ingestion.meaning.ontologies import read_ontology, read_skos, read_wikibase
from ingestion.meaning.owl import (
    complete_inverses,
    complete_transitive,
    join_spellings,
    link_named_graphs,
    merge_same,
    set_aside_not_deprecated,
    unfold_lists,
)
from ingestion.meaning.relation_nodes import read_claims, unfold_measurements, unfold_roles
from ingestion.meaning.value_nodes import unfold_names, unfold_nodes, unfold_parts, unfold_values
from ingestion.read.facts import Facts

Rule = Callable[[Draft], None]

# each rule reads what the previous ones derived
RULES: tuple[Rule, ...] = (
    join_spellings,
    read_claims,
    unfold_lists,
    unfold_values,
    unfold_names,
    unfold_nodes,
    merge_same,
    set_aside_not_deprecated,
    read_wikibase,
    read_ontology,
    read_skos,
    complete_transitive,
    complete_inverses,
    unfold_measurements,
    unfold_roles,
    name_undescribed_targets,
    unfold_parts,
    name_translations,
    expand_codes,
    hide_empty_texts,
    link_named_graphs,
)

# of rules that replace facts or hide them, those that a database can follow: its queries read its columns as they are
STORED_RULES: tuple[Rule, ...] = (hide_empty_texts,)


def derive_facts(facts: Facts, rules: Sequence[Rule] = RULES) -> Facts:
    """The facts with derived triples; the same object if no rule applies.

    Derived triples are marked in `derived`, hidden ones are in `aside`. The export has what was read. A rule that would
    take or derive too much stops, and `limits` names it.
    """
    draft = Draft(facts)
    for rule in rules:
        draft.budget.renew()
        try:
            rule(draft)
        except RuleStopped as error:
            # what it derived so far is kept
            draft.limits.append(f"{rule.__name__.replace('_', ' ')}: {error}")
        if rule is join_spellings and (joined := draft.finished_facts()) is not facts:
            draft = Draft(joined)
    return draft.finished_facts()
