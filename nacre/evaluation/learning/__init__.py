"""Weights, probabilities and thresholds learned from questions with gold answers.

Commands, of which all but the last need the extra `learn`:

    python -m nacre.evaluation.learning.parser_weights --data DATA --gold FOLDER ...
    python -m nacre.evaluation.learning.text_answers [--write]
    python -m nacre.evaluation.learning.sufficiency SEED SEED ...
    python -m nacre.evaluation.learning.orientation FILE.jsonl ...

- linear_models: log-linear and logistic models, fitted with regularisation
- plan_values: the values of a plan, run
- follow_ups: the readings of the turns of a conversation, judged
- parser_weights: the weights of the ranker of readings
- row_probabilities: the probabilities that rows are right, and the thresholds of confident answers
- unstated: when a reading may answer in the place of an empty look-up of a named thing's property
- text_examples: questions about texts with their candidate answers
- text_answers: the weights of the ranker of spans of texts
- sufficiency: the weights for whether single triples answer a question
- orientation: how like questions about data are to those that ask nothing of it
- model_priors: how often the queries of a model are right
"""
