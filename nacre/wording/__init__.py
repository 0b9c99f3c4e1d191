"""Rows and facts into checked English.

Reading order:
- labels: names of classes and predicates
- clauses: conditions on things
- phrases: plans and selects as noun phrases
- answers: rows as sentences, lists and tables
- descriptions: facts of things and groups as sentences, comparisons
- translations: rows as sentences in German and French
- overview: the graph as a whole
- run_plan: run a plan and word what it asks
"""
