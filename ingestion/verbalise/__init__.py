"""From facts and documents to passages: sentences that know the triple or the place they come from."""
