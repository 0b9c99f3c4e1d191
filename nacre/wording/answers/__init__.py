"""Rows in words.

Reading order:
- verbalisation: the record of words and data
- answer: the words of any result
- grid: the columns of a result
- computations: comparisons and calculations
- counts, property_sentences, lists, tables: the forms of an answer
- sentence: sentences, captions and leads
- meaning: rows of a model's query, by what the model says they are
"""
