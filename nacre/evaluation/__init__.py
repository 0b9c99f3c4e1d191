"""Answer quality: question files with gold answers -> answers, scores and tables.

Reading order:
    questions   a file of questions with their gold answers, asked one at a time
    score       whether an answer is right, how good it is, a table of right answers by kind of question
    compare     configurations compared (`nacre compare`)
    translations  questions with gold queries in SPARQL (`nacre eval --text2sparql`)
    alone       a model without Nacre, for comparison (`nacre compare --alone`)
    calibrate   how often the queries of a model are right (`nacre calibrate`)

Learning, synthetic data, ablation and further comparisons are in the top-level package `evaluation`.
"""
