"""Dialogue: a turn and the turns before it -> Rewrite, a question that stands alone.

Reading order:
    follow_up_turn    a turn as the rules look at it
    question_shape    what kind of question a few words form
    meta_questions    questions about the conversation itself
    orientation       turns that ask nothing of the data: who are you, what is in here, thanks
    references/       what pronouns, ordinals and noun phrases stand for
    revisions/        turns that change or repeat an earlier question
    rewrite           the rules in order: question + earlier turns -> Rewrite
"""
