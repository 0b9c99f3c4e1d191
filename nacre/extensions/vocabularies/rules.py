"""The rules for vocabularies, by the name of the rule of `ingestion/meaning/derive.py` that they come before."""

from ingestion.meaning.derive import Rule
from nacre.extensions.vocabularies.ontologies import read_ontology, read_skos, read_wikibase
from nacre.extensions.vocabularies.owl import (
    complete_inverses,
    complete_transitive,
    link_named_graphs,
    merge_same,
    set_aside_not_deprecated,
    unfold_lists,
)
from nacre.extensions.vocabularies.relation_nodes import read_claims, unfold_measurements, unfold_roles
from nacre.extensions.vocabularies.value_nodes import unfold_names, unfold_nodes, unfold_parts, unfold_values

RULES: dict[str, tuple[Rule, ...]] = {
    "name_undescribed_targets": (
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
    ),
    "name_translations": (unfold_parts,),
    # after all
    "": (link_named_graphs,),
}
