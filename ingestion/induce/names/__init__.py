"""Names of tables, columns, predicates and things.

Files in reading order:
    column_names.py        labels and IRIs -> unique SQL identifiers
    class_names.py         names of tables and class views
    iri_segments.py        distinctive segments of the members' IRIs
    predicate_names.py     readable labels of predicates
    split_joined_words.py  "emissioncombined" -> "emission combined"
    labels.py              the shown label of each entity
    infer_names.py         names of things without a label
"""
