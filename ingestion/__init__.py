"""RDF and text to stores: one stage, one file; pipeline.py lists the stages in order."""
