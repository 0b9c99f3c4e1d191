"""The meaning of vocabularies: OWL, SKOS, Wikibase, nodes that hold values or relations, lists, named graphs.

In reading order:
    extension       before which rules of the core these come
    owl             the rules by name; lists, sameAs, transitive and inverse predicates, named graphs
    ontologies      ontologies without instances, SKOS and Wikibase: classes and their members
    value_nodes     nodes that hold values, names and parts of a thing
    relation_nodes  measurements and roles that are nodes of their own
"""
