"""What lies on disk: tables, passages, vectors, lexical index, lexicon, versions."""
