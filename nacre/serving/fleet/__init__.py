"""What several servers share: keys, runs and graphs. One server alone does without.

In reading order:
    shared_keys    the keys in a database
    shared_rates   rate limits of keys over all servers
    shared_runs    runs that clients can follow, resume and cancel through any server
    follow_graphs  graphs of the store, fetched and published while a server runs
    migrate        what a data folder stores about its users, moved to a database
    share_graphs   graphs of the store, taken before a command and published after it
"""
