"""Answer quality: question files with gold answers -> answers, scores and tables.

- questions: a file of questions with their gold answers
- ask_questions: the questions of a file, asked one at a time
- gold_values, verdict: whether an answer is right
- ranking_metrics, metrics: how good it is: F1, reciprocal rank, BLEU, similarity
- score: a table of right answers by kind of question
- bundled_sets: the bundled graphs with questions
- __main__: the bundled graphs, asked and scored (`python -m nacre.evaluation`)
- ablate, left_out, ablated_code: what each pass of understanding is worth, how it is left out, and its lines of code
- comparing: configurations, reasoners, branches and strategies against each other
- learn: weights and limits of the rules (`python -m nacre.evaluation.learn`)
- learning: weights, probabilities and limits from questions with gold answers
- verified: what verified questions are worth, and the weights of likeness to them
- synthetic: fictional graphs, reworded questions, and questions without an answer
"""
