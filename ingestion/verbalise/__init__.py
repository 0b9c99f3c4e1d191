"""From facts and documents to passages: sentences that know their triple or their place.

Files in reading order:
    passages.py           facts of each thing -> passages
    neighbours.py         outgoing and incoming facts
    titles.py             titles of things
    predicate_wording.py  the wording of each predicate
    sentence_parts.py     labels and lists of names inside a sentence
    object_phrases.py     phrases for objects
    complex_sentences.py  sentences that need more than a pattern
    packing.py            sentences -> passages
    documents.py          documents -> passages and mentions
    texts.py              the text of a document -> passages
    split_sentences.py    texts -> sentences
    document_mentions.py  the things that a sentence mentions
"""
