"""Weights, probabilities and thresholds learned from questions with gold answers.

Commands, all of which need the extra `learn`:

    python -m nacre.evaluation.learning.parser_weights --data DATA --gold FOLDER ...
    python -m nacre.evaluation.learning.text_answers [--write]
    python -m nacre.evaluation.learning.sufficiency SEED SEED ...

- linear_models: log-linear and logistic models, fitted with regularisation
- plan_values: the values of a plan, run
- follow_ups: the readings of the turns of a conversation, judged
- parser_weights: the weights of the ranker of readings
- row_probabilities: the probabilities that rows are right, and the thresholds of confident answers
- text_examples: questions about texts with their candidate answers
- text_answers: the weights of the ranker of spans of texts
- sufficiency: the weights for whether single triples answer a question
- model_priors: how often the queries of a model are right
"""
