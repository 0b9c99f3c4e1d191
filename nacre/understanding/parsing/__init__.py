"""Parse a question over the schema graph: Question + Links -> Candidates, readings with their plans.

Each rule yields alternative states and has a name; a learned weight belongs to each name (ranking/weights.json).

Reading order:
    derive              the steps; the beam that reads the words from left to right
    state               ParseState, Candidate; words that a reading leaves unused
    class_rules, property_rules, entity_rules
                        rules for mentions: ParseState + Link -> ParseStates
    cue_rules, superlative_rules, number_rules
                        rules for modifiers: ParseState + Cue or Number -> ParseStates
    finish              ParseState -> Derivations, one for each way to settle what the words leave open
    columns             the columns that show what is asked for; conditions nested and combined
    lower               Derivation + SchemaGraph -> plan of variables, edges and filters
    joins               the cheapest joins between the things of a plan; filters
    constraints, link_constraints
                        which readings stay: by what they answer, by the links they follow
    read_yes_no, read_comparisons, read_calculations
                        readers of questions with a form of their own: Question + Links -> Candidates
    profiles            questions for prose
"""
