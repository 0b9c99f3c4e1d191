"""Derive triples by the meaning of common vocabularies: Facts -> Facts with derived triples, by `RULES` in order."""

from ingestion.meaning.budget import RuleStopped
from ingestion.meaning.code_lists import expand_codes
from ingestion.meaning.draft import Draft
from ingestion.meaning.empty_texts import hide_empty_texts
from ingestion.meaning.nodes.measurements import unfold_measurements
from ingestion.meaning.nodes.name_nodes import unfold_names
from ingestion.meaning.nodes.nested_nodes import unfold_nodes
from ingestion.meaning.nodes.parts import unfold_parts
from ingestion.meaning.nodes.roles import unfold_roles
from ingestion.meaning.nodes.value_nodes import unfold_values
from ingestion.meaning.owl.inverse import complete_inverses
from ingestion.meaning.owl.lists import unfold_lists
from ingestion.meaning.owl.ontology import read_ontology
from ingestion.meaning.owl.same_as import merge_same
from ingestion.meaning.owl.transitive import complete_transitive
from ingestion.meaning.skos import read_skos
from ingestion.meaning.translations import name_translations
from ingestion.meaning.undescribed_targets import name_undescribed_targets
from ingestion.meaning.wikibase import read_wikibase
from ingestion.read.capsules import Facts

# each rule reads what the previous ones derived
RULES = (
    unfold_lists,
    unfold_values,
    unfold_names,
    unfold_nodes,
    merge_same,
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
)


def derive_facts(facts: Facts) -> Facts:
    """The facts with derived triples; the same object if no rule applies.

    Derived triples are marked in `derived`, hidden ones are in `aside`. The export has what was read. A rule that would
    take or derive too much stops, and `limits` names it.
    """
    draft = Draft(facts)
    for rule in RULES:
        draft.budget.renew()
        try:
            rule(draft)
        except RuleStopped as error:
            # what it derived so far is kept
            draft.limits.append(f"{rule.__name__.replace('_', ' ')}: {error}")
    return draft.finished_facts()
