"""The answer: evidence -> candidates with probabilities -> the draft, its checked sentences and its record.

In reading order:

calibrate_rows        probabilities of rows after readings ran
merge_candidates      rows of readings and of a model together
selection             which rows or sentences answer
from_texts            answers in sentences of documents
disputes, clarify     evidence that disagrees; other readings to offer
fallbacks             what is said if nothing answers
answer_draft          the record of a drafted answer
draft_sentences       answers that are sentences
draft                 the answer by rules
inherited_confidence  confidence in a conversation
grounding_gate        releases the sentences that evidence supports
answer_record         the record of the turn
remembered_turn       what later turns need of it
"""
