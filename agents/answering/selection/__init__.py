"""Which rows and sentences of a turn answer.

In reading order:

rows           the rows and sentences that may answer, and how likely rows are
word_cover     whether sentences have the words of a question
refused_rows   rows that are no answer
select_answer  the rows to answer with
"""
