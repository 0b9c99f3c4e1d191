"""Fit the probabilities that rows are right: judged runs -> three models, and the probabilities of each out of fold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nacre.evaluation.learning.judged_runs import JudgedRun
from nacre.evaluation.learning.linear_models import fit_log_linear, fit_logistic

# strength of the regularisation (measured out of fold at 0.002 to 0.1)
RIDGE_SURE = 0.01

Models = dict[str, dict[str, float]]


@dataclass(frozen=True)
class EligibleReadings:
    """The readings of a question that may answer: their features, and which are right."""

    features: list[Mapping[str, float]]
    right: list[bool]


def fit_models(runs: Sequence[JudgedRun]) -> Models:
    """The models for a reading before it runs, for the choice among those that ran, and for the chosen one."""
    usable = [run for run in runs if run.readings]
    eligible = [[run.readings[i] for i in run.eligible] for run in usable]
    choice = fit_log_linear(
        [EligibleReadings([each.choice for each in ran], [each.right for each in ran]) for ran in eligible]
    )
    first = [run.readings[0] for run in usable]
    chosen = [run.readings[run.best(choice)] for run in usable]
    # readings that ignore a bound are never likely, whatever their features are
    first, chosen = ([each for each in group if not each.penalty] for group in (first, chosen))
    return {
        "before": fit_logistic([each.before for each in first], [each.right for each in first], RIDGE_SURE),
        "choice": choice,
        "after": fit_logistic([each.after for each in chosen], [each.right for each in chosen], RIDGE_SURE),
    }


def models_out_of_fold(runs: Sequence[JudgedRun], folds: Mapping[str, int]) -> list[Models]:
    """For each fold the models that are fitted without its graphs."""
    return [fit_models([run for run in runs if folds[run.graph] != fold]) for fold in range(max(folds.values()) + 1)]
