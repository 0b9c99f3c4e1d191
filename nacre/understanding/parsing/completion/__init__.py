"""Completion of partial readings: ParseState -> Derivations, one for each way to settle what the words leave open.

In reading order: finish (the steps), pending (superlatives and numbers that still wait), grouping, columns, nest
(conditions inside others), combine (several values), ordering, question_words ("where", "who").
"""
