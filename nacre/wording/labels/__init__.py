"""Names of classes and predicates as people say them.

Reading order:
- label: the forms of a label
- parse_label: the kind of a label by its words
- shorten_label: a label without owner, range, code and unit
- years: which numbers are years
- predicate_labels: the label of a predicate
- value_kinds: amounts, times, and properties as nouns
- class_nouns: the noun of a class
- association_classes: classes that only join two others
"""
