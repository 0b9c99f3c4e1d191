"""Dialogue: a turn and the turns before it -> Rewrite, a question that stands alone.

Reading order:
    rewrite        the rules in order; turns that ask nothing of the data; questions about the conversation itself
    focus          what "it", "them" or "she" may stand for
    references     pronouns, noun phrases, ordinals, "the cheaper one", readings that were offered
    ellipsis       short turns that need the words of an earlier question
    revise_plan    turns that correct or change the plan before them
    plan_edits     changes of a plan: Select -> Select
    follow_up      a Rewrite applied to the candidates of a question
"""
