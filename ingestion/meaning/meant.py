"""Read a graph as the vocabularies in it mean it: Facts -> Facts with derived triples. The rules stand in `RULES`."""

from ingestion.meaning.claims import read_claims
from ingestion.meaning.codes import read_codes
from ingestion.meaning.draft import Draft
from ingestion.meaning.empty import leave_out_empty
from ingestion.meaning.inverse import complete_inverses
from ingestion.meaning.lists import unfold_lists
from ingestion.meaning.measurements import unfold_measurements
from ingestion.meaning.names import unfold_names
from ingestion.meaning.nested import unfold_nodes
from ingestion.meaning.ontology import read_ontology
from ingestion.meaning.parts import unfold_parts
from ingestion.meaning.roles import unfold_roles
from ingestion.meaning.same import merge_same
from ingestion.meaning.thesaurus import read_thesaurus
from ingestion.meaning.transitive import complete_transitive
from ingestion.meaning.translations import name_translations
from ingestion.meaning.undescribed import name_undescribed
from ingestion.meaning.values import unfold_values
from ingestion.read.capsules import Facts

# In order: each reads what those before it derived.
RULES = (
    unfold_lists,
    unfold_values,
    unfold_names,
    unfold_nodes,
    merge_same,
    read_claims,
    read_ontology,
    read_thesaurus,
    complete_transitive,
    complete_inverses,
    unfold_measurements,
    unfold_roles,
    name_undescribed,
    unfold_parts,
    name_translations,
    read_codes,
    leave_out_empty,
)


def as_meant(facts: Facts) -> Facts:
    """The facts with what follows from them; the same object where none of the vocabularies is used.

    What is derived is marked in `derived`, what is no longer shown stands in `aside`; the export gives what was read.
    """
    draft = Draft(facts)
    for rule in RULES:
        rule(draft)
    return draft.facts_meant()
