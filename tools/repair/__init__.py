"""Corrections of a model's SQL: repair_query by its error, repair_empty by the values there are."""
