"""Named features of a reading, which have learned weights: Candidate + Question -> {name: number}.

The names are keys of weights.json. The order of features is the order in which their weighted values are added up.
"""

from collections import Counter

from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.coverage import unused_tokens
from nacre.understanding.question.types import Link, Question
from nacre.understanding.ranking.adjacency_features import adjacency_features
from nacre.understanding.ranking.answer_features import answer_type_features, measure_features
from nacre.understanding.ranking.cue_features import cue_features
from nacre.understanding.ranking.data_features import data_features
from nacre.understanding.ranking.plan_features import plan_features
from nacre.understanding.ranking.vocabulary_features import vocabulary_features

# Larger counts say no more.
MAX_COUNTED = 4


def reading_features(candidate: Candidate, question: Question, graph: SchemaGraph, best: float) -> dict[str, float]:
    """What is known of a reading before it runs. `best` is the highest prior of the question's readings."""
    d = candidate.derivation
    parse: dict[str, float] = {
        "bias": 1.0,
        "prior": d.prior / max(1, len(question.tokens)),
        "prior below best": best - d.prior,
        "joins": candidate.join_cost,
        "steps": float(candidate.steps),
        "ambiguous": float(min(candidate.ambiguous, MAX_COUNTED)),
        "other way": float(candidate.path_choice > 0),
        "names passed over": candidate.name_loss,
        "names split": float(min(candidate.split_names, MAX_COUNTED)),
        "targets": float(len(d.targets)),
        "conditions": float(len(d.conditions)),
        "nodes": float(len(d.nodes)),
    }
    rules = {f"rule {rule}": float(min(times, MAX_COUNTED)) for rule, times in Counter(d.trace).items()}
    return {
        **parse,
        **rules,
        **_coverage_features(candidate, question),
        **_link_features(d.links),
        **cue_features(candidate, question),
        **plan_features(candidate, question, graph),
        **measure_features(candidate, question, graph),
        **answer_type_features(candidate, question, graph),
        **adjacency_features(candidate, question, graph),
        **data_features(candidate, graph),
        **vocabulary_features(candidate, question, graph),
    }


def _coverage_features(candidate: Candidate, question: Question) -> dict[str, float]:
    """How many content words of the question the reading does not use."""
    unused = unused_tokens(candidate, question)
    content = [i for i in range(len(question.tokens)) if i not in question.stopwords]
    names = [i for i in unused if question.tokens[i].text[:1].isupper() and i]
    digits = [i for i in unused if question.tokens[i].norm[:1].isdigit()]
    quoted = {i for start, end in question.quoted for i in range(start, end)}
    return {
        "unused share": len(unused) / max(1, len(content)),
        "unused": float(min(len(unused), MAX_COUNTED)),
        "unused names": float(min(len(names), MAX_COUNTED)),
        "unused numbers": float(min(len(digits), MAX_COUNTED)),
        "unused quoted": float(min(len(quoted & set(unused)), MAX_COUNTED)),
        "nothing unused": float(not unused),
    }


def _link_features(links: tuple[Link, ...]) -> dict[str, float]:
    """How well the words fit what they are linked to."""
    if not links:
        return {"no links": 1.0}
    kinds = Counter(f"link {x.kind} {x.match.removeprefix('link ')}" for x in links)
    overlapping = seen = 0
    for link in links:
        overlapping += bool(seen & link.covered)
        seen |= link.covered
    return {
        "link mean": sum(x.score for x in links) / len(links),
        "link least": min(x.score for x in links),
        "links": float(len(links)),
        **{kind: float(times) for kind, times in kinds.items()},
        "links overlap": float(overlapping),
    }
