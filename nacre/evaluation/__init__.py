"""Answer quality: question files with gold answers -> answers, scores and tables.

Reading order:
    questions   a file of questions with their gold answers, asked one at a time
    score       whether an answer is right, how good it is, a table of right answers by kind of question

The commands are in `nacre.extensions.evaluation`; learning, synthetic data, ablation and further comparisons in the
top-level package `evaluation`.
"""
