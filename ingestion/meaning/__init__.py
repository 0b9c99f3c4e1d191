"""The meaning of common vocabularies: Facts -> Facts with derived triples. Each rule is a function of a Draft.

Files in reading order:
    derive.py               the rules in order
    draft.py                the graph while rules add derived triples and hide read ones
    nodes/                  values, names, parts, measurements and roles in nodes of their own
    owl/                    lists, sameAs, ontologies, transitive and inverse predicates
    skos.py, wikibase.py    concepts and items as classes
    undescribed_targets.py  IRIs without a description as texts
    translations.py         names by language
    code_lists.py           codes of databases -> descriptions
    unit_codes.py           codes of units -> symbols
    empty_texts.py          empty texts are missing values
"""
