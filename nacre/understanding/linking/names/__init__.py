"""Names of things, values and codes: a question -> Links and NameCandidates.

Reading order:
    name_candidate     what a span may name
    name_words         words of a question -> words of names
    entities           things by whole names and parts of names
    value_linker       things and values -> links
    code_linker        names of languages and countries -> codes
    name_spans         where a sentence names something
    name_patterns      SPARQL that looks up names at an endpoint
    endpoint_names     the names of an attached graph, cached
    question_lexicon   the lexicon of an attached graph, with the things of one question
"""
