"""Rules for boolean properties: ParseState + Link -> ParseStates with a condition ("unpaid rentals")."""

from collections.abc import Iterator

from nacre.language.base import language, word_list
from nacre.language.booleans import false_value, true_value
from nacre.language.forms.nouns import is_plural
from nacre.language.tokens import lemma, split_name
from nacre.understanding.parsing.state import ParseContext, ParseState
from nacre.understanding.question.types import NEGATED_MATCH, Condition, Link, Ref, token_mask

# how many words before a property may ask what it says: "whether they are ..."
MAX_WORDS_BEFORE = 3
# how many letters two forms of a word share
SHARED_LETTERS = 4


def names_boolean_property(link: Link, ref: Ref, context: ParseContext) -> bool:
    """Whether a word asks for things of which a boolean property holds, not for the property ("the paid flag")."""
    if link.match == NEGATED_MATCH or context.graph.about(ref.predicate).datatype == "boolean":
        return True
    words = context.question.tokens
    if is_plural(words[link.end - 1].norm):
        # "the decisions", which are yes or no
        return False
    near = words[max(0, link.start - MAX_WORDS_BEFORE) : link.end + 1]
    asks_for_flag = any(token.norm in language().words["asking_flag"] for token in near)
    return ref.predicate in context.graph.boolean_predicates and not asks_for_flag


def boolean_condition(
    state: ParseState, new: ParseState, link: Link, ref: Ref, context: ParseContext
) -> Iterator[ParseState]:
    """ "Blocked customers", "unpaid rentals": a boolean property holds, or does not."""
    about = context.graph.about(ref.predicate)
    yes, no = true_value(about), false_value(about)
    if yes is None or (yes is not True and _means_otherwise(link, ref, context)):
        return
    if link.match == "partial" and _is_only_verb(link, ref, context):
        # what is run by somebody does not run at night
        return
    # "the decision no"
    after = context.question.tokens[link.end : link.end + 1]
    says_no = any(token.norm in language().words["lacking"] for token in after)
    if says_no:
        new = new._replace(covered=new.covered | token_mask(link.end, link.end + 1))
    is_denied = (state.negated != (link.match == NEGATED_MATCH)) != says_no
    if is_denied and no is not None:
        # an unknown value is neither
        rule, condition = "flag denied", Condition(ref, "=", (no,))
    else:
        rule, condition = "flag", Condition(ref, "=", (yes,), is_denied)
    yield new._replace(last="flag").apply_rule(rule, 0.2, conditions=(*state.conditions, condition), negated=False)


def _means_otherwise(link: Link, ref: Ref, context: ParseContext) -> bool:
    """Whether a word is only like the name: who "earns" has not paid, and what they "pay" is not yes or no."""
    is_unlike = link.match == "like" and not _is_other_form(link, ref, context)
    return is_unlike or _is_verb_of_participle(link, ref, context)


def _is_only_verb(link: Link, ref: Ref, context: ParseContext) -> bool:
    """Whether a word is only the verb at the beginning of a longer name: "runs" of "runs at night"."""
    said = [token.lemma for token in context.question.tokens[link.start : link.end]]
    first = split_name(context.graph.about(ref.predicate).label).split()[0]
    is_verb = said == [lemma(first)] and first in word_list("wording", "verbs")
    return is_verb and len(context.graph.words[ref.predicate]) > 1


def _is_other_form(link: Link, ref: Ref, context: ParseContext) -> bool:
    """Whether a word is another form of a word of the name, or a slip: "freelance" of "is freelancer"."""
    said = {token.lemma[:SHARED_LETTERS] for token in context.question.tokens[link.start : link.end]}
    own = {word[:SHARED_LETTERS] for word in context.graph.words[ref.predicate]}
    return any(len(stem) == SHARED_LETTERS for stem in said & own)


def _is_verb_of_participle(link: Link, ref: Ref, context: ParseContext) -> bool:
    """Whether a word is the verb of the participle in the name: "pay" of "paid"."""
    words = context.question.tokens
    name = context.graph.about(ref.predicate).label.casefold().split()[-1]
    said = words[link.end - 1].norm
    asks_yes_no = words[0].norm in language().words["helping"]
    return not asks_yes_no and said != name and lemma(name) == said
