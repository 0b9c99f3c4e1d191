"""Python client: a data folder or a server's address -> its graphs, to be queried from a program.

In reading order:

    facade             Nacre, Graph and Chat: the public classes
    source             the protocol of what answers, and the request of one turn
    local              a data folder, opened in this process
    remote             a server, over HTTP
    event_loop_thread  the event loop that runs both
    reply              an answer record by its parts
    verified           questions that people confirmed; verified_local and verified_remote fetch them
    streams            an answer token by token
    tool               a graph as a tool of LangChain agents
"""
