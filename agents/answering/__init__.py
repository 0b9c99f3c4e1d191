"""The answer: evidence -> candidates with probabilities -> the draft, its checked sentences and its record.

Reading order:
    select_answer    which rows and sentences answer, and how likely they are right
    draft            what the rules answer: from rows, texts, sentences, or the reason for no answer
    fallbacks        no sure rows: why, what is nearest, which readings to offer
    grounding_gate   sentences checked while they are written
    answer_record    the record of a finished turn, and what later turns need of it
"""
