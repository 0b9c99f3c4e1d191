"""References: words that stand for something in earlier turns -> the things that they mean.

Reading order:
    focus                    the things that the conversation is about
    pronouns                 "it", "they", "there", "the second one"
    definite_references      "the department", "this colour"
    superlative_references   "the cheaper one", "which of the two"
    exclude_given            "which other films", "who else"
    offered_readings         choosing a reading that an answer offered
    scope                    the things of the conversation among links and candidates
"""
