"""From RDF and documents to the stores of a graph.

In reading order:
    pipeline             sources and texts -> a published version -> its vectors
    stages               the stages of an ingest, in order, and the publication
    read/                RDF files -> Facts
    documents            documents -> text in blocks
    layer/               names and shortcuts that people give, for a graph or for a vocabulary
    vocabularies/        the layers of common vocabularies (data)
    meaning/             codes and spellings -> derived facts
    induce/              facts -> tables and schema
    index/               lexicon, full-text index, vectors, triple store
    report               every triple accounted for; the triples of a version as Facts
    vocabulary           IRIs of common vocabularies
"""
