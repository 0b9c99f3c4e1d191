"""Understanding: one turn of a conversation -> plans over one graph, with probabilities. No language model is used.

The packages build on each other in this order; none imports a later one:
    question/    text -> Question: tokens, numbers, and cues such as "most" or "each"
    linking/     Question -> Links: what its spans may name in the graph
    parsing/     Question + Links -> Candidates: readings with plans
    ranking/     Candidates -> Readings with probabilities, before and after they run
    verified/    Readings + questions that people confirmed -> one more Reading
    glossing/    German and French questions and labels -> English words
    dialogue/    question + earlier turns -> Rewrite: a question that stands alone

Files that use them:
    constrain          the constraints on the readings of a question, one after the other
    rewrite_plans      the changes of their plans, one after the other
    parse_question     the readers of question forms, and all readings of a question
    expected_answer    the kind of answer that a plan gives
    mentions           what a question names, for the other branches
    understand         the stages in order: Rewrite -> Understanding
"""
