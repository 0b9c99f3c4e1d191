"""Files of questions with gold answers, asked one at a time (`questions`).

Scores and commands are in `nacre.extensions.evaluation`; learning, synthetic data, ablation and further comparisons
in the top-level package `evaluation`.
"""
