"""Full-text, spelling and vector indexes.

Files in reading order:
    lexical.py          full-text search over passages (tantivy)
    spellings.py        fuzzy search over the words of names
    vectors.py          vector search over passages: the interfaces
    vectors_edge.py     vectors in a folder (Qdrant Edge)
    vectors_server.py   vectors on a Qdrant server
    vector_sets.py      open a set of vectors by its id
    embedding_cache.py  computed vectors, durable while an index is built
    index_folder.py     open a tantivy index without writing to its folder
    file_integrity.py   detect truncated or changed index files
    stop_words.txt      words that a full-text query ignores
"""
