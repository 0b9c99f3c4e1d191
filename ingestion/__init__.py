"""From RDF and documents to the stores of a graph.

Files in reading order:
    pipeline.py             sources and texts -> a published version -> its vectors
    stages.py               the stages of an ingest, in order
    read/                   files -> facts, documents -> text in blocks
    layer/                  names and shortcuts that people give, for a graph or for a vocabulary
    vocabularies/           the layers of common vocabularies
    meaning/                common vocabularies -> derived facts
    induce/                 facts -> tables and schema
    verbalise/              facts and documents -> passages
    overview.py             remarkable facts and example questions of a graph
    index/                  lexicon, full-text index, vectors, triple store
    stored_facts.py         the triples of a version
    apply_layers.py         other layers for a graph that is ingested
    publish.py              a finished version -> what readers open
    graph_state.py          what was made, and which indexes are complete
    attach/                 a SPARQL endpoint -> a graph without tables
    extract.py              texts -> extracted triples
    complete.py             extracted triples -> additions to the schema
    export.py               tables -> N-Triples or N-Quads
    report.py               every triple accounted for
    suggested_questions.py  schema -> draft questions
    checked_questions.py    draft questions -> questions that the graph answers
    vocabulary.py           IRIs of common vocabularies
"""
