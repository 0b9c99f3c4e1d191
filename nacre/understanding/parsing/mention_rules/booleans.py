"""Rules for properties of yes or no: a mention of one at hand + ParseState -> what it holds of, or does not."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.language.booleans import false_value, true_value
from nacre.language.forms.nouns import is_plural, wording_entry
from nacre.language.tokens import lemma, split_name
from nacre.understanding.parsing.state import ParseContext, ParseState
from nacre.understanding.question.types import NEGATED_MATCH, Condition, Link, Ref

# words before a property that may ask what it says: "whether they are ..."
BEFORE = 3
# letters that two forms of a word share, the shorter of which has as many
FORM = 4


def names_boolean_property(link: Link, ref: Ref, context: ParseContext) -> bool:
    """Whether a property of yes or no is named for what it holds of, and not itself: "the paid flag"."""
    if link.match == NEGATED_MATCH or context.graph.about(ref.predicate).datatype == "boolean":
        return True
    words = context.question.tokens
    if is_plural(words[link.end - 1].norm):
        # "the decisions", which are yes or no
        return False
    asking = any(t.norm in language().words["asking_flag"] for t in words[max(0, link.start - BEFORE) : link.end + 1])
    return ref.predicate in context.graph.boolean_predicates and not asking


def boolean_condition(
    state: ParseState, new: ParseState, link: Link, ref: Ref, context: ParseContext
) -> Iterator[ParseState]:
    """ "Blocked customers", "unpaid rentals": what a property of yes or no holds of, or does not."""
    yes = true_value(context.graph.about(ref.predicate))
    otherwise = link.match == "like" and not _is_alike(link, ref, context)
    if yes is None or (yes is not True and (otherwise or _is_verb_of(link, ref, context))):
        # who earns has not paid, and what they pay is no matter of yes or no
        return
    if link.match == "partial" and _says_verb_alone(link, ref, context):
        # what is run by somebody does not run at night
        return
    after = context.question.tokens[link.end : link.end + 1]
    # "the decision no"
    said_no = any(t.norm in language().words["lacking"] for t in after)
    if said_no:
        new = new._replace(covered=new.covered | 1 << link.end)
    denied = (state.negated != (link.match == NEGATED_MATCH)) != said_no
    no = false_value(context.graph.about(ref.predicate))
    if denied and no is not None:
        # what is not known is neither
        condition = Condition(ref, "=", (no,))
        rule = "flag denied"
    else:
        condition = Condition(ref, "=", (yes,), denied)
        rule = "flag"
    yield new._replace(last="flag").apply_rule(rule, 0.2, conditions=(*state.conditions, condition), negated=False)


def _says_verb_alone(link: Link, ref: Ref, context: ParseContext) -> bool:
    """Whether nothing of a name of several words is said but its first, a verb in the third person."""
    said = [t.lemma for t in context.question.tokens[link.start : link.end]]
    first = split_name(context.graph.about(ref.predicate).label).split()[0]
    return said == [lemma(first)] and first in wording_entry("verbs") and len(context.graph.words[ref.predicate]) > 1


def _is_alike(link: Link, ref: Ref, context: ParseContext) -> bool:
    """Whether a word is only another form of one of the property's name, or a slip: "freelance" of "is freelancer"."""
    said = [t.lemma for t in context.question.tokens[link.start : link.end] if len(t.lemma) >= FORM]
    return any(a[:FORM] == b[:FORM] for a in said for b in context.graph.words[ref.predicate] if len(b) >= FORM)


def _is_verb_of(link: Link, ref: Ref, context: ParseContext) -> bool:
    """Whether a word is the verb of whose participle a property is called: "pay" of "paid"."""
    words = context.question.tokens
    called = context.graph.about(ref.predicate).label.casefold().split()[-1]
    said = words[link.end - 1].norm
    asked = words[0].norm in language().words["helping"]
    return not asked and said != called and lemma(called) == said
