"""Python client: a data folder or a server's address -> its graphs, to be queried from a program.

In reading order:
    facade       Nacre, Graph and Chat: the public classes; the answer as it streams; verified questions;
                 a graph as a tool of agents
    connections  a data folder, opened in this process, or a server, over HTTP
"""
