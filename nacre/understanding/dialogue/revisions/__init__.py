"""Revisions: a turn that changes or repeats an earlier question -> Rewrite, and the plans that it makes.

Reading order:
    plan_substitution    other things, values and earlier plans in a plan
    plan_edits           columns, orders and conditions of an earlier plan
    cue_edits            edits that cue words alone ask for
    follow_up            which change a turn asks for, and the changed plans
    change_plan          a turn that changes the plan before it -> Rewrite
    ellipsis             the last question about something else, in words
    plan_revisions       the last plan about something else
    fragments            turns that ask one thing more
    omitted_references   turns that leave out whose property they ask for
    correction           "no, I meant Y"
    revised_readings     the readings of changed plans, with probabilities
"""
