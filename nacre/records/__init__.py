"""Frozen records that the packages exchange, and their JSON forms. It imports nothing else of Nacre.

Files in reading order:
    facts.py         terms, facts, capsules (all facts of one subject) and passages
    schema.py        classes, predicates and relations of a graph
    plan.py          what a question asks, in graph terms
    turn.py          one turn: rewrite, mentions, readings, understanding
    evidence.py      what the branches return: rows and sentences
    derivation.py    how an answer was derived, step by step
    answer.py        the answer record of all APIs
    look_up.py       what a query writer may look up before it writes
    browse.py        what the pages of things and classes show
    endpoint.py      a SPARQL endpoint that a graph is attached to
    extracted.py     triples extracted from texts, and additions to the schema that they propose
    verified_question.py  questions that people confirmed
    json_form.py     records to JSON data and back
    cancellation.py  deadlines and cancellation of work in threads
"""
