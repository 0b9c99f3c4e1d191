"""The agents, one file each: the contract of the agent and its version by rules; the extension `model_agents` has those
by a model.

Reading order:
    turn_view      what every agent sees of a turn, may ask of an open graph, and returns
    agents         the agents of a turn by reasoner
    rewriter       makes a question stand alone
    tool_selector  chooses the branches of a round
    query_writer   finds the rows that answer
    answering/     candidates -> the answer, its status and its record
    fuser          writes the answer, also in German or French
    model_calls    bounded calls of chat models, with the prompts under prompts/
    model_priors   what the settings say of the models, and how often their queries are right; cached replies
"""
