"""Full-text and vector indexes.

In reading order:
    lexical  full-text search over passages (tantivy), and the integrity of index files
    vectors  vector search over passages: in a folder (Qdrant Edge) or on a Qdrant server
"""
