"""Python: a data folder, or a server's address -> its graphs, to ask from a program."""
