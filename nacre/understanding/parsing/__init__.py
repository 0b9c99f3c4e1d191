"""Parse a question over the schema graph: Question + Links -> Candidates, readings with their plans.

In reading order: derive (the steps), state (the records), beam (reads the words from left to right),
coverage (words that a reading leaves unused), profile_questions and profile_subjects (questions for prose).

The packages: mention_rules and modifier_rules (rules of the beam: ParseState -> ParseStates), completion (ParseState ->
Derivations), lowering (Derivation -> plan), constraints (which readings stay), readers (questions of special forms).
Each rule yields alternative states and has a name; a learned weight belongs to each name (ranking/weights.json).
"""
