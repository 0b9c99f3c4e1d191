"""Rows and facts into checked English.

Reading order:
    answer            a result in words: Plan + Table -> Verbalisation
    lists             lists, tables and single properties in words
    grid              the columns of an answer as a reader sees them
    sentence          sentences and leads of lists
    plan_phrases      plans as noun phrases and statements
    noun_phrase       the things of a select with all conditions on them
    select_structure  links that a noun phrase leaves out or merges; superlatives
    clauses           conditions on properties as clauses after a noun
    link_clauses      links and memberships as clauses
    labels            names of predicates as people say them
    nouns             names of classes, and what the values of a predicate are
    profile           descriptions of things and groups, the most telling first; run a plan and say what it asks
    thing, group, comparison, facts
                      one thing; groups and number ranges of parts; what differs; facts of a predicate
    overview          the graph as a whole
    translations      rows as sentences in German and French
"""
