"""References: words that stand for something in earlier turns -> the things that they mean.

Reading order:
    turn_things              the things in the plan of an earlier turn
    focus                    the things that the conversation is about
    standalone_text          insert things into a question, and take notes for people out
    pronouns                 find "it", "they", "there"
    resolve_pronoun          what a pronoun stands for
    ordinals                 "the second one", "the other"
    definite_references      "the department", "this colour"
    superlative_references   "the cheaper one", "which of the two"
    exclude_given            "which other films", "who else"
    offered_readings         choosing a reading that an answer offered
    scope                    the things of the conversation among links and candidates
"""
