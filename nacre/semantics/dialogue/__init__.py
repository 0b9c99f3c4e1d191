"""Follow-ups: what earlier turns mean for the question at hand, as scope and as changes of plans."""
