"""The agents, one file each: the contract of the agent, its version by rules, its version by a model.

Reading order:
    turn_view      what every agent sees of a turn, may ask of an open graph, and returns
    agents         the agents of a turn by reasoner
    rewriter       makes a question stand alone
    tool_selector  chooses the branches of a round
    query_writer   finds the rows that answer; merges rows of the rules and of a model
    write_queries  queries written by a model, and a second opinion
    query_prompt   the prompts for writing queries
    doubts         doubts about rows of a model's queries
    answering/     candidates -> the answer, its status and its record
    fuser          writes the answer, also in German or French
    model_calls    bounded calls of chat models, with the prompts under prompts/
    model_priors   what the settings say of the models, and how often their queries are right
"""
