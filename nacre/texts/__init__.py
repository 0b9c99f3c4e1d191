"""Answers from sentences of texts: question + sentences -> the likeliest answers with their probabilities.

- expected_answer: the kind of answer that a question expects, its noun and its words
- value_spans: dates, times and numbers of a sentence as spans
- spans: all spans of a sentence that may be the answer
- question_match: the sentences that share words with the question
- span_features: the features of a span
- answer: the log-linear model that ranks the spans; its weights are in `weights.json`
"""
