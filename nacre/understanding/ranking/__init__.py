"""Ranking: Candidates of one question -> Readings in order of probability, before and after they run.

Reading order:
    rank            candidates -> ranked readings, by a log-linear model; the learned numbers (weights.json)
    features        the features of a reading
    unused_cues     bounds, negations and ranks of the question that a plan ignores
    proof           what a reader checks before a reading is called the answer
    probabilities   ranked readings -> Readings with probabilities; rows of a reading -> probability that they are right
"""
