"""The loop: state, context, nodes, branches, builder and the composition root."""
