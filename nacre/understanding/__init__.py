"""Understanding: one turn of a conversation -> plans over one graph, with probabilities. No language model is used.

The packages build on each other in this order; none imports a later one:
    question/    text -> Question: tokens, numbers, and cues such as "most" or "each"
    linking/     Question -> Links: what its spans may name in the graph
    parsing/     Question + Links -> Candidates: readings with plans
    ranking/     Candidates -> Readings with probabilities, before and after they run
    dialogue/    question + earlier turns -> Rewrite: a question that stands alone

Modules that use them:
    glossing          German and French questions and labels -> English words
    parse_question    the readers of question forms, and all readings of a question after constraints and rewrites
    mentions          what a question names or describes, for the other branches
    understand        the stages in order: Rewrite -> Understanding
"""
