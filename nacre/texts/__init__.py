"""Answers from sentences of texts: question + sentences -> the likeliest answers with their probabilities.

Reading order:
    answer   the log-linear model that ranks spans (weights.json), their features, sentences that share words
    spans    the parts of a sentence that may be the answer, and the kind of answer that a question expects
"""
