"""The agents by a chat model: each wraps that of the rules, which answers where the model fails.

In reading order:
    team           the agents of all steps, and the branches of a round
    rewriter       a question that stands alone
    query_writer   the rows of queries and readings, each with its probability
    write_queries  queries until there is no doubt about their rows; a second opinion
    query_prompt   the prompts for writing queries
    look_up        names of a question with their columns; values and sample rows, shown before a query is written
    doubts         why rows may be wrong
    fuser          the answer in words
"""
