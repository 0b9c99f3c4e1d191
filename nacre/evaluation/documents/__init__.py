"""Documents made for measuring: what is true of them is known by construction."""
