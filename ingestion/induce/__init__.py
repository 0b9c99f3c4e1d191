"""From facts to tables: classes, columns and their types, names, units, and the SQLite file that holds them."""
