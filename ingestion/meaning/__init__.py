"""The meaning of common vocabularies: Facts -> Facts with derived triples. Each rule is a function of a Draft.

In reading order:
    derive          the rules in order
    draft           the graph while rules add derived triples and hide read ones, within a budget
    owl             lists, sameAs, transitive and inverse predicates
    ontologies      ontologies without instances, SKOS and Wikibase: classes and their members
    value_nodes     nodes that hold values, names and parts of a thing
    relation_nodes  measurements and roles that are nodes of their own
    codes           codes, translations, undescribed IRIs and empty texts
"""
