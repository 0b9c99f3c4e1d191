"""Answers from sentences of texts: question + sentences -> the likeliest answers with their probabilities.

Reading order:
    answer                the log-linear model that ranks spans (weights.json), their features, words in common
    spans                 the parts of a sentence that may be the answer, and the kind of answer that a question expects
    draft_texts           the likeliest answer as a sentence
    join_texts            questions that need facts and texts
    descriptive_phrases   phrases that describe a thing ("the longest ship")
"""
