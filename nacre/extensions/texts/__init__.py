"""Answers from sentences of texts: question + sentences -> the likeliest answers with their probabilities.

Reading order:
    answer      the likeliest answer as a sentence; the log-linear model that ranks spans (weights.json)
    spans       the parts of a sentence that may be the answer, and the kind of answer that a question expects
    join_texts  questions that need facts and texts; phrases that describe a thing
"""
