"""Learn which span of a text answers a question: `reading.yaml` -> `nacre/texts/weights.json`.

    python -m nacre.evaluation.learning.text_answers [--write]

The weights maximise the conditional log-likelihood of the right spans, or of "no answer", with L2 regularisation. The
printed figures are out of fold: they are measured on texts that the weights were not learned from.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nacre.evaluation.learning.text_examples import TextExample, read_text_examples
from nacre.texts.answer import TEXT_WEIGHTS_FILE

# strength of the regularisation (chosen out of fold among 0.03, 0.1, 0.3, 1)
RIDGE = 0.1
TEXT_TARGET_PRECISION = 0.9
# answers from which a precision is measured, at least
MIN_ANSWERED = 30
# an answer must be likelier right than wrong (given)
MIN_THRESHOLD = 0.5


def learn_text_weights(examples: Sequence[TextExample]) -> dict[str, float]:
    """The weights under which the right candidates are likeliest."""
    from scipy.optimize import minimize

    names = sorted({name for each in examples for features in each.features for name in features})
    column = {name: i for i, name in enumerate(names)}
    matrices = [_matrix(each, column) for each in examples]
    labels = [np.array(each.right) for each in examples]

    def loss(weights: Any) -> tuple[float, Any]:
        total, gradient = RIDGE * float(weights @ weights), 2 * RIDGE * weights
        for matrix, right in zip(matrices, labels, strict=True):
            score = matrix @ weights
            belief = np.exp(score - score.max())
            expected, wanted = belief / belief.sum(), belief * right / (belief * right).sum()
            total -= float(np.log((belief * right).sum() / belief.sum()))
            gradient = gradient - matrix.T @ (wanted - expected)
        return total, gradient

    result = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return {name: round(float(weight), 3) for name, weight in zip(names, result.x, strict=True) if abs(weight) >= 0.001}


def predict_value(example: TextExample, weights: Mapping[str, float]) -> tuple[object, float, bool]:
    """The likeliest value (None: no answer), its probability, and whether it is right."""
    score = np.array([sum(weights.get(n, 0.0) * v for n, v in features.items()) for features in example.features])
    belief = np.exp(score - score.max())
    belief /= belief.sum()
    probability: dict[object, float] = {}
    right: dict[object, bool] = {}
    for value, share, is_right in zip(example.values, belief, example.right, strict=True):
        probability[value] = probability.get(value, 0.0) + float(share)
        right[value] = right.get(value, False) or is_right
    best = max(probability, key=lambda value: probability[value])
    return best, probability[best], right[best]


def out_of_fold(examples: Sequence[TextExample]) -> list[tuple[TextExample, object, float, bool]]:
    """Each example answered with weights learned from the other folds."""
    judged = []
    for text in dict.fromkeys(each.text for each in examples):
        weights = learn_text_weights([each for each in examples if each.text != text])
        judged += [(each, *predict_value(each, weights)) for each in examples if each.text == text]
    return judged


def text_threshold(answered: Sequence[tuple[float, bool]]) -> float:
    """The lowest probability, in steps of 0.01, from which on every step reaches the target precision."""
    threshold = 1.0
    for step in range(99, 9, -1):
        above = [right for p, right in answered if p >= step / 100]
        if len(above) >= MIN_ANSWERED and sum(above) < TEXT_TARGET_PRECISION * len(above):
            break
        threshold = step / 100
    return max(MIN_THRESHOLD, threshold)


def main() -> None:
    """Print the figures out of fold; write the weights with --write."""
    examples = read_text_examples()
    judged = out_of_fold(examples)
    answered = [(p, right) for _, value, p, right in judged if value is not None]
    print(f"{len(examples)} questions, {sum(right for *_, right in judged)} right out of fold")
    for threshold in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9):
        above = [right for p, right in answered if p >= threshold]
        print(f"  answered with at least {threshold}: {len(above)}, right {sum(above) / max(1, len(above)):.1%}")
    for each, value, p, right in judged:
        if not right:
            has_right_span = any(each.right[:-1])
            print(f"  wrong: {each.question} {value!r} ({p:.2f}){'' if has_right_span else ' no span is right'}")
    if "--write" in sys.argv:
        learned = {"threshold": text_threshold(answered), "features": learn_text_weights(examples)}
        TEXT_WEIGHTS_FILE.write_text(json.dumps(learned, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _matrix(example: TextExample, column: Mapping[str, int]) -> Any:
    matrix = np.zeros((len(example.features), len(column)))
    for row, features in enumerate(example.features):
        for name, value in features.items():
            matrix[row, column[name]] = value
    return matrix


if __name__ == "__main__":
    main()
