"""Weights, probabilities and limits learned from questions with gold answers.

Commands, of which all but the last need the extra `learn`:

    python -m nacre.evaluation.learn --data DATA --gold FOLDER ...
    python -m nacre.evaluation.learning.text_answers [--write]
    python -m nacre.evaluation.learning.sufficiency SEED SEED ...
    python -m nacre.evaluation.learning.orientation FILE.jsonl ...

- linear_models: log-linear and logistic models, fitted with regularisation
- plan_values: the values of a plan, run
- follow_ups: the readings of the turns of a conversation, judged
- screening: which words a reading ignores, and whether its rows are refused
- samples: questions of many graphs with their readings, judged and screened
- parser_weights: the weights of the ranker of readings
- judged_runs: the readings of a question in the order in which they are run
- row_probabilities: the probabilities that rows are right
- limits: the probabilities below which an answer is marked as unsure, refused, or replaced by facts nearby
- text_examples: questions about texts with their candidate answers
- text_answers: the weights of the ranker of spans of texts
- sufficiency: the weights for whether single triples answer a question
- orientation: how like questions about data are to those that ask nothing of it
- model_priors: how often the queries of a model are right
"""
