"""Work in separate processes that can be killed.

Files in reading order:
    killable_pool.py  a pool of processes with limits of memory and time
    worker_process.py  one process: work in, result out
    spawn_context.py  start processes without running the main script again
    no_network.py     deny network sockets to a process (seccomp)
    parent_watch.py   end a process when its parent is gone
"""
