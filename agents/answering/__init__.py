"""What is answered: candidates and evidence -> sentences, values and a status."""
