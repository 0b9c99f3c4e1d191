"""Ranking: Candidates of one question -> Readings in order of probability, before and after they run.

Reading order:
    rank                 candidates -> ranked readings, by a log-linear model over features
    features             all features of a reading; the next three files compute parts of them
    plan_features        the shape of the plan
    answer_features      does the answer fit the question word and the adjective
    adjacency_features   do mentions next to each other play fitting parts
    similarity           similarity of readings in words with the question, by an embedder
    unheeded_words       bounds, negations and ranks that a plan ignores
    best_readings        ranked readings -> Readings with probabilities
    calibrate            features of rows -> probability that they are right; choice among readings that ran
    weights              the learned numbers: weights.json -> Weights
"""
