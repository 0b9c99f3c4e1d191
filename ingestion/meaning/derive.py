"""Derive triples by the meaning of common vocabularies: Facts -> Facts with derived triples, by rules in order."""

from collections.abc import Callable, Sequence

from ingestion.meaning.codes import expand_codes, hide_empty_texts, name_translations, name_undescribed_targets
from ingestion.meaning.draft import Draft, RuleStopped
from ingestion.meaning.spellings import join_spellings
from ingestion.read.facts import Facts
from nacre.extension import services

Rule = Callable[[Draft], None]

# those of the core; each reads what the previous ones derived
RULES: tuple[Rule, ...] = (
    join_spellings,
    name_undescribed_targets,
    name_translations,
    expand_codes,
    hide_empty_texts,
)

# of rules that replace facts or hide them, those that a database can follow: its queries read its columns as they are
STORED_RULES: tuple[Rule, ...] = (hide_empty_texts,)


def all_rules() -> tuple[Rule, ...]:
    """The rules of the core, each after those that extensions place before it by its name."""
    added, found = [*services("rules")], list[Rule]()
    for rule in (*RULES, None):
        found += [each for rules in added for each in rules.get(rule.__name__ if rule else "", ())]
        found += [rule] if rule else []
    return tuple(found)


def derive_facts(facts: Facts, rules: Sequence[Rule] | None = None) -> Facts:
    """The facts with derived triples, by default by all rules; the same object if none applies.

    Derived triples are marked in `derived`, hidden ones are in `aside`. The export has what was read. A rule that would
    take or derive too much stops, and `limits` names it.
    """
    draft = Draft(facts)
    for rule in all_rules() if rules is None else rules:
        draft.budget.renew()
        try:
            rule(draft)
        except RuleStopped as error:
            # what it derived so far is kept
            draft.limits.append(f"{rule.__name__.replace('_', ' ')}: {error}")
        if rule is join_spellings and (joined := draft.finished_facts()) is not facts:
            draft = Draft(joined)
    return draft.finished_facts()
