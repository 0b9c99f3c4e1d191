"""Frozen records that the packages exchange, and their JSON forms. It imports nothing else of Nacre.

Reading order:
    schema             classes, predicates and relations of a graph; the endpoint that it is attached to
    plan               what a question asks, in graph terms
    turn               one turn: rewrite, mentions, readings, understanding; questions that people confirmed
    evidence           terms, passages, triples extracted from texts; what the branches return: rows and sentences
    answer             the answer record of all APIs, and how an answer was derived
    browse             what the pages of things and classes show
    json_form          records to JSON data and back
    threads            blocking work in threads: deadlines, cancellation, slots that callers share fairly
"""
