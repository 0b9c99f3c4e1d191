"""Conditions on things as clauses after a noun.

Reading order:
- clause: the forms of a clause
- link_clauses, filter_clauses, membership_clauses: links, conditions on properties, conditions against a select
- property_values: the values of a property as a clause about its thing
- comparison_words: operators, constants and ranges
- join_clauses: names and clauses put together
"""
