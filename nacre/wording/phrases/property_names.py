"""Name a property next to the things that have it: SelectWording + PlanTerm -> "names", "number of stories"."""

from nacre.language.forms.measure_nouns import count_phrase
from nacre.language.forms.nouns import plural
from nacre.plans.inspect_select import ordered_variable
from nacre.records.plan import Attribute, PlanTerm
from nacre.wording.labels.value_kinds import nominal_label
from nacre.wording.phrases.noun_phrase import SelectWording


def property_phrase(wording: SelectWording, term: Attribute | PlanTerm, many: bool) -> str:
    """A property of one thing or of `many`: "number of stories", "names"."""
    assert isinstance(term, Attribute)
    if term.part in ("year", "month"):
        return f"{term.part} of the {nominal_label(term.predicate, wording.schema)}"
    end = {"low": "lowest ", "high": "highest "}.get(term.part, "")
    owner = wording.variables.get(term.variable)
    one = (
        not many
        or (owner is not None and len(owner.keys) == 1)
        or (is_superlative(wording, term.variable) and not wording.tied)
    )
    name = wording.own_name(term)
    predicate = wording.schema.predicate_of[term.predicate]
    if one and not end and predicate.functional:
        # "the number of stories of the building", which is 12
        name = count_phrase(name, counts=predicate.datatype == "integer" and not predicate.unit)
    return f"{end}{name if one or name.startswith('“') else plural(name)}"


def is_superlative(wording: SelectWording, variable: str) -> bool:
    """Whether the select asks for the first thing of an order."""
    return wording.select.limit == 1 and ordered_variable(wording.select) == variable
