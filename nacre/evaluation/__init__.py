"""Answer quality: run question files, print the table."""
