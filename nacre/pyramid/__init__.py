"""The arithmetic of the knowledge pyramid over arrays: densities of layers, medoids, relations that are one."""
