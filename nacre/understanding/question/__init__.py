"""Stage `question`: what a question says without the graph, text -> Question.

Reading order:
    records     token ranges, Cue, Number, Question, and what the parser makes of them
    analyse     the stage: cues (words that say how things are asked for), stop words, a trailing clause
    numbers     numbers and dates with their comparisons, ranges, quotations
"""
