"""Stage `question`: what a question says without the graph, text -> Question.

In reading order: types (Token ranges, Cue, Number, Question, and what the parser makes of them), analyse (the stage),
cues (words that say how things are asked for), trailing_clause ("..., and how many?"), ranges and bounds (numbers with
their comparisons), numbers (all numbers and dates), quotations (names as they are written), descriptive_phrases ("the
ship that has a library").
"""
