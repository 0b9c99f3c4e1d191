"""Names of classes and properties: a question -> Links to nodes and predicates of the schema graph.

Reading order:
    schema_terms          every name of a class or property, with a weight for each word
    wide_words            words for the things of several classes
    class_synonyms        hypernyms of classes, and what such a word rules out
    word_matcher          words of a question -> words of names
    schema_linker         words of a question -> links
    schema_link_filters   filters among these links
    comments              words that only a comment contains
    expressions           everyday expressions and their concepts
    paraphrases           links of expressions and verbs
    adjectives            the properties that an adjective measures
    quantity_nodes        numbers that are things of their own
    requested_names       "names of the presses"
"""
