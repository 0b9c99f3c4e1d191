"""How like questions about data are to questions that ask nothing of it: question files -> the highest likenesses.

    python -m evaluation.orientation_likeness FILE.jsonl ...

Every question of the files is about the data of some graph. `threshold` of `nacre/language/en/orientation.yaml` lies
above the likeness of each of them, by its words alone, and `loose_threshold` above those of intents that are not about
the graph. What a graph calls its things is not looked at here, although a name of the graph rules such an intent out.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from nacre.language.small_talk import OrientationMatch, intents, nearest_intent, threshold

SHOWN = 20


def highest_likenesses(questions: Sequence[str], *, about_graph: bool) -> list[tuple[str, OrientationMatch]]:
    """The questions with their nearest intents, those about the graph or the others, the most similar first."""
    matches = [(question, nearest_intent(question)) for question in dict.fromkeys(questions)]
    wanted = intents("about_graph")
    found = [(question, match) for question, match in matches if match and (match.intent in wanted) == about_graph]
    return sorted(found, key=lambda pair: (-pair[1].likeness, pair[0]))


def main(files: Sequence[str]) -> None:
    """Print the questions that are most like such intents, and how many would be taken for one."""
    lines = (line for file in files for line in Path(file).read_text(encoding="utf-8").splitlines() if line)
    questions = [str(json.loads(line)["question"]) for line in lines]
    out = [f"{len(set(questions))} questions"]
    for about_graph in (True, False):
        least = threshold(is_loose=not about_graph)
        found = highest_likenesses(questions, about_graph=about_graph)
        above = sum(match.likeness >= least for _, match in found)
        out.append(f"\n{'about the graph' if about_graph else 'others'}: {above} at {least} or above")
        out += [f"  {match.likeness:.3f} {match.intent:11} {question}" for question, match in found[:SHOWN]]
    sys.stdout.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
