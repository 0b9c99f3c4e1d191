"""The prompts for writing queries: TurnView + Database + the rules' rows -> messages, the fixed prefix first.

In order: the messages, the schema within a budget, verified questions as examples, and a query as a model reads it.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import ValidationError

from agents.answering.select_answer import content_words, is_nil, is_same_result, row_probability
from agents.model_calls import CHARACTERS_PER_TOKEN, Limits, prompt
from agents.turn_view import Database, Language, TurnView
from nacre.errors import NacreError
from nacre.extensions.model_agents.doubts import preview_rows
from nacre.extensions.model_agents.look_up import linked_name_lines, value_phrases
from nacre.language.data import word_list
from nacre.language.labels import is_boolean_predicate
from nacre.language.sanitize import CITED, quote_line, quote_lines
from nacre.language.tokens import ENGLISH, language_codes, language_name, split_name, tokenize
from nacre.plans.selects import edges_at, filtered_variable, selects_of, variable_of
from nacre.plans.to_sql import to_sql
from nacre.records.evidence import BranchResult, Cell, LookUp, Occurrence, Query, Rows, shorten
from nacre.records.json_form import from_json, to_json
from nacre.records.plan import Attribute, Combine, Plan, Select
from nacre.records.schema import Relation, Schema
from nacre.records.threads import run_in_thread
from nacre.records.turn import EarlierTurn, Understanding, VerifiedQuestion
from nacre.stores.sqlite.lexicon import Lexicon, TableLink
from nacre.stores.sqlite.schema_sql import is_secondary, translations
from nacre.stores.vectors import label_vectors
from nacre.wording.plan_phrases import verbalise_plan

TURNS_SHOWN = 3

LONGEST_ANSWER = 500

# characters of the query of an earlier turn: a part of one would not say which things are meant (given)
LONGEST_EARLIER = 1000

# less likely readings are not shown (given)
WORTH_SHOWING = 0.3

READINGS_SHOWN = 2

# things of a class that joins everything that points to them (given)
MAX_SHARED = 2

# look-ups that were not run, as they are named to the model
LOOK_UPS_SHOWN = 4

LONGEST_LOOK_UP = 100


async def query_messages(
    view: TurnView, database: Database, drafts: BranchResult | None, limits: Limits, *, small: bool, typed: bool = False
) -> list[BaseMessage]:
    """The messages of one question. If all tables fit into the prefix, a server caches them for all questions. With
    `typed`, the model gets the question as typed, and makes it stand alone itself."""
    every, tables = await run_in_thread(whole_schema, database.schema, limits.schema_tokens, database.describe), ""
    occurrences = await database.occurrences(value_phrases(view.understanding))
    if every is None:
        part = await run_in_thread(
            relevant_tables if database.language == "sql" else relevant_classes,
            view.understanding,
            database.schema,
            database.lexicon,
            limits.schema_tokens,
            database.describe,
            occurrences,
            view.rewrite.language,
        )
        tables = f"<schema>\n{quote_lines(part)}\n</schema>\n"
    examples = await run_in_thread(verified_example_lines, view.understanding, database, limits.example_tokens)
    turn = prompt(
        "query_writer_turn",
        tables=tables,
        examples=_tagged("examples", examples),
        conversation=_conversation(view, typed=typed and not database.wants_query),
        names=_tagged("names", await linked_name_lines(view.understanding, database, occurrences)),
        readings=_tagged("readings", _readings(view, database.schema, drafts)),
        question=quote_line(view.question) if typed else quote_line(view.standalone) + _as_asked(view),
    )
    return [
        SystemMessage(query_prefix(every, small=small, language=database.language, plain=database.wants_query)),
        HumanMessage(turn),
    ]


def _as_asked(view: TurnView) -> str:
    """The question in its own language: a translation may lose a name, a unit or a nuance."""
    own = view.rewrite.own or (view.question if view.rewrite.language != ENGLISH else "")
    return f"\nAs asked, in {language_name(view.rewrite.language)}: {quote_line(own)}" if own else ""


def _tagged(name: str, lines: Sequence[str]) -> str:
    return f"<{name}>\n{chr(10).join(lines)}\n</{name}>\n" if lines else ""


def query_prefix(tables: str | None, *, small: bool, language: Language = "sql", plain: bool = False) -> str:
    """The prefix of every prompt about a graph, byte for byte the same: all tables if they fit."""
    name = f"query_writer{'_small' if small else ''}{'' if language == 'sql' else '_sparql'}"
    name = "query_writer_plain" if plain and not small else name
    shown = "The tables are" if language == "sql" else "The classes and properties are"
    return prompt(name, schema=quote_lines(tables or f"{shown} named with each question."))


def look_up_message(seen: Sequence[tuple[LookUp, str]], left_out: Sequence[LookUp], left: int) -> str:
    """The results of look-ups as a message, with those that were not run, and how many answers are left."""
    parts = [f"{_look_up_words(each)}:\n{quote_lines(text)}" for each, text in seen]
    shown = _tagged("seen", parts or [""])
    return f"{shown}{_not_run(left_out)}Now answer the question. {_answers_left(left)}"


def feedback_message(
    ran: Sequence[BranchResult], why: str, left_out: Sequence[LookUp], left: int, near: Sequence[str] = ()
) -> str:
    """The rows of queries and the doubt about them as a message, with the values nearest to those of the queries."""
    parts = [
        f"{quote_line(query.text)[:300]}\n{_rows_or_error(found)}" for found in ran for query in found.queries[-1:]
    ]
    rows = _tagged("rows", parts or [""])
    is_error = any(found.error is not None and found.error.message == why for found in ran)
    doubt = "" if is_error else f"{quote_line(why)}\n"
    return f"{rows}{_tagged('values', near)}{doubt}{_not_run(left_out)}Answer again. {_answers_left(left)}"


def _not_run(left_out: Sequence[LookUp]) -> str:
    """A line with the look-ups that were asked for and not run."""
    shown = [_look_up_words(each)[:LONGEST_LOOK_UP] for each in left_out[:LOOK_UPS_SHOWN]]
    more = f" and {len(left_out) - len(shown)} more" if len(left_out) > len(shown) else ""
    return f"Not looked up: {'; '.join(shown)}{more}.\n" if left_out else ""


def _answers_left(left: int) -> str:
    return "This is your last answer: no more look-ups." if left <= 1 else f"You have {left} answers left."


def _rows_or_error(found: BranchResult) -> str:
    if found.error is not None:
        return f"error: {quote_line(found.error.message)}"
    return "\n".join(quote_lines(preview_rows(each.table)) for each in found.rows) or "no rows"


def _look_up_words(look: LookUp) -> str:
    where = ".".join(part for part in (look.table, look.column) if part)
    return " ".join(quote_line(part) for part in (look.kind, where, f"like '{look.text}'" if look.text else "") if part)


def _conversation(view: TurnView, *, typed: bool) -> str:
    """The turns before this one with their queries, and how the rules understand the question. With `typed`, the model
    is asked to make it stand alone."""
    lines = [_turn(turn) for turn in view.conversation[-TURNS_SHOWN:]]
    differs = view.rewrite.depends and view.question != view.standalone
    if differs and not typed:
        lines.append(f"Now asked: {quote_line(view.question)} (understood as below, which may be wrong)")
    shown = _tagged("conversation", lines)
    if not typed:
        return shown
    in_english = f" {prompt('in_english')}" if view.language != ENGLISH else ""
    if not lines:
        return f"{in_english.strip()}\n"
    draft = f" A program reads it as: {quote_line(view.standalone)}" if differs else ""
    return f"{shown}{prompt('follow_up')}{in_english}{draft}\n"


def _turn(turn: EarlierTurn) -> str:
    answer = quote_line(CITED.sub("", turn.answer))
    queries = [
        quote_line(query_text(each.query))
        for each in turn.evidence
        if isinstance(each, Rows) and each.query is not None
    ]
    ran = f"\nQuery: {queries[0][:LONGEST_EARLIER]}" if queries else ""
    return f"Question: {quote_line(turn.standalone)}{ran}\nAnswer: {shorten(answer, LONGEST_ANSWER)}"


def _readings(view: TurnView, schema: Schema, drafts: BranchResult | None) -> list[str]:
    """The likely readings of the rules in words, with probabilities, queries and rows: none that fails the proof,
    counts 0, judges a choice or misleads, and none with the rows of a likelier one."""
    understanding = view.understanding
    words = {token.norm for token in tokenize(view.standalone)}
    is_choice = not words.isdisjoint(word_list("answering", "choices"))
    shown: list[Rows] = []
    for each in sorted(drafts.rows if drafts else (), key=lambda each: -row_probability(understanding, each)):
        is_likely = row_probability(understanding, each) >= WORTH_SHOWING and not each.doubts
        judges_choice = is_choice and each.table.columns[:1] == ("yes",)
        counts_none = is_nil(each.table) and each.table.columns[:1] != ("yes",)
        if not is_likely or judges_choice or counts_none or _misleads(each, understanding, schema):
            continue
        if not any(is_same_result(each.table, other.table) for other in shown):
            shown.append(each)
    lines = [_reading(each, row_probability(understanding, each)) for each in shown]
    return [line for line in lines if line][:READINGS_SHOWN]


def _misleads(rows: Rows, understanding: Understanding, schema: Schema) -> bool:
    """Whether a reading asks only whether a yes or no is stated, or joins things by what nearly all of them point to,
    such as the source of a data set, of a class that the question does not name."""
    plan = rows.plan or (understanding.readings[rows.reading].plan if rows.reading is not None else None)
    named = {each.target for each in understanding.mentions if each.kind == "class"}
    shared = {each.iri for each in schema.classes if each.count <= MAX_SHARED} - named
    for select in selects_of(plan.body) if plan is not None else ():
        used = {*map(filtered_variable, select.filters), *map(variable_of, select.answers)}
        between = (v for v in select.variables if len(edges_at(select, v.name)) > 1 and not v.keys)
        if any(v.name not in used and not shared.isdisjoint(v.classes) for v in between):
            return True
        stated = (each.left for each in select.filters if each.op in ("known", "unknown"))
        known = (schema.predicate_of.get(each.predicate) for each in stated if isinstance(each, Attribute))
        if any(each is not None and is_boolean_predicate(each) for each in known):
            return True
    return False


def _reading(rows: Rows, likely: float) -> str:
    """A reading as a model sees it; "" without a query, or with one that is long."""
    query = query_text(rows.query) if rows.query is not None else ""
    if not query or len(query) > LONGEST_QUERY:
        return ""
    head = f"({likely:.0%} sure) {shorten(quote_line(rows.words), 200)}\n{quote_line(query)}"
    return f"{head}\n{quote_lines(preview_rows(rows.table, 3))}"


# the CREATE statements of `entity` and these relations, of all if None; with the predicates that a question is about,
# others in short
DescribeTables = Callable[[Collection[str] | None, Collection[str] | None], str]

# characters of a column with its comment: schemas of clearly too many columns are not written out
COLUMN_CHARACTERS = 30

# relevant tables that are shown with the paths between them before others (given)
SEEDS = 8

# tables with names of the question that are shown in any case, and tables that are tried beyond the budget (given)
MAX_NAMED, MAX_TOO_LONG = 8, 3

# junctions to nodes of statements that are shown for words of a question (given)
MAX_STATEMENTS = 2

# the share of the budget that tables may fill which a question neither mentions nor passes (given)
FILLED = 0.6

LONGEST_PATH = 3


def whole_schema(schema: Schema, tokens: int, describe: DescribeTables) -> str | None:
    """All tables, the same text for every question of a graph version; None if they exceed the budget."""
    most = tokens * CHARACTERS_PER_TOKEN
    if sum(len(relation.columns) for relation in schema.relations) * COLUMN_CHARACTERS > 2 * most:
        return None
    text = describe(None, None)
    return text if len(text) <= most else None


def relevant_tables(
    understanding: Understanding,
    schema: Schema,
    lexicon: Lexicon,
    tokens: int,
    describe: DescribeTables,
    occurrences: Sequence[Occurrence] = (),
    language: str = ENGLISH,
) -> str:
    """The part of the schema that a question is about: tables with names of the question, and others within the budget.

    The order: tables that the question names or is near to, with those on the paths between them; tables that they
    refer to or that refer to them; other tables that share words with the question. A junction follows the second of
    its two tables. Views of the things of one table, and junctions to statements, are shown if the question means them.
    """
    focus = _asked_predicates(understanding, schema, occurrences, language)
    named = [each.table for each in occurrences if each.table in schema.relation_of]
    meant_things = (*understanding.mentions, *(each.mention for each in understanding.named))
    targets = dict.fromkeys(each.target for each in meant_things if each.kind == "entity")
    homes = [thing.relation for thing in map(lexicon.thing, targets) if thing is not None]
    likely = {i for reading in understanding.readings[:READINGS_SHOWN] for i in _strings_in(to_json(reading.plan))}
    meant = [schema.junctions[iri] for iri in sorted(likely & schema.junctions.keys())]
    meant += [schema.class_of[iri].relation for iri in sorted(likely & schema.class_of.keys())]
    named = [name for name in dict.fromkeys([*homes, *named, *meant]) if name in schema.relation_of][:MAX_NAMED]
    ranked = [relation.name for relation in _ranked(understanding, schema, lexicon)]
    core, near = _connected_order(ranked, lexicon.links)
    words = content_words(understanding.standalone)
    seldom = {
        schema.junctions.get(each.iri)
        for each in schema.predicates
        if is_secondary(schema, each) and each.iri not in focus and not words & content_words(each.label)
    }
    plain = {each.name for each in schema.relations if each.kind != "view"} - seldom | {*named, *ranked}
    order = [name for name in _with_junctions([*named, *core, *near], schema, lexicon.links) if name in plain]
    aside = set(schema.junctions.values()) - {schema.junctions.get(iri) for iri in focus}
    core = [name for name in _with_junctions([*named, *core], schema, lexicon.links) if name in plain - aside]
    core += statements_about(words, schema)
    return _within_budget(
        dict.fromkeys([*named, *core, *order]), named, core, tokens, lambda chosen: describe(chosen, focus)
    )


def statements_about(words: Collection[str], schema: Schema) -> list[str]:
    """The junctions to nodes that qualify a value, whose labels share most words with a question."""
    shared = [
        (len(set(words) & content_words(known.label or known.comment)), name)
        for iri, name in sorted(schema.junctions.items())
        if (known := schema.predicate_of.get(iri)) is not None and is_secondary(schema, known)
    ]
    most = max((count for count, _ in shared), default=0)
    return [name for count, name in shared if count and count == most][:MAX_STATEMENTS]


def relevant_classes(
    understanding: Understanding,
    schema: Schema,
    lexicon: Lexicon,
    tokens: int,
    describe: DescribeTables,
    occurrences: Sequence[Occurrence] = (),
    language: str = ENGLISH,
) -> str:
    """The classes that a question is about with their properties, within the budget; at least one.

    The order: classes that the question names, classes that they link to or that link to them, other classes that share
    words with it.
    """
    iris = _meant_iris(understanding)
    asked_words = content_words(understanding.standalone)
    worth: dict[str, int] = {}
    for each in schema.shown_classes:
        own = [p for p in schema.shown_predicates if each.iri in p.domains]
        words = content_words(f"{each.label} {each.comment}")
        labels = content_words(" ".join(p.label for p in own))
        spoken = 2 * (each.iri in iris) + sum(p.iri in iris for p in own)
        worth[each.iri] = 3 * len(words & asked_words) + spoken + len(labels & asked_words - words)
    ranked = [c.iri for c in sorted(schema.shown_classes, key=lambda c: (-worth[c.iri], -c.count, c.iri)) if c.count]
    seeds = [iri for iri in ranked[:SEEDS] if worth[iri]]
    neighbours = [
        other
        for seed in seeds
        for p in schema.predicates
        for near, others in ((p.domains, p.ranges), (p.ranges, p.domains))
        if seed in near
        for other in others
    ]
    focus = _asked_predicates(understanding, schema, occurrences, language)
    wanted = dict.fromkeys([*seeds, *neighbours, *ranked])
    return _within_budget(wanted, (), seeds, tokens, lambda chosen: describe(chosen, focus))


def _within_budget(
    wanted: Iterable[str],
    named: Collection[str],
    core: Collection[str],
    tokens: int,
    describe: Callable[[Collection[str]], str],
) -> str:
    """The text of those that fit into the budget, in their order, of those that are `named` in any case, and of at
    least one. Those that are not of the `core` fill a share of it. After a few that do not fit the rest is left out."""
    chosen, text, too_long = list[str](), describe([]), 0
    for name in wanted:
        longer, share = describe([*chosen, name]), 1 if name in core else FILLED
        if chosen and name not in named and len(longer) > share * tokens * CHARACTERS_PER_TOKEN:
            too_long += 1
            if too_long == MAX_TOO_LONG:
                break
            continue
        chosen.append(name)
        text = longer
    return text


def _meant_iris(understanding: Understanding) -> set[str]:
    """The IRIs of mentions and in plans of readings."""
    iris = {i for mention in understanding.mentions for i in (mention.target, mention.predicate)}
    for reading in understanding.readings:
        iris.update(_strings_in(to_json(reading.plan)))
    return iris


def _asked_predicates(
    understanding: Understanding, schema: Schema, occurrences: Sequence[Occurrence], language: str
) -> frozenset[str]:
    """The predicates that a question may be about: of mentions and readings, with a word of it in their label, of
    columns with its names, and with names in its language or in one that it mentions."""
    iris, words = _meant_iris(understanding), content_words(understanding.standalone)
    places = {(each.table, each.column) for each in occurrences}
    of_names = {c.predicate for r in schema.relations for c in r.columns if (r.name, c.value) in places}
    alike = {
        p.iri
        for p in schema.predicates
        if not is_secondary(schema, p) and words & content_words(f"{p.label} {' '.join(p.alt_labels[:4])}")
    }
    languages = {language} | language_codes(words)
    translated = {iri for iri, code in translations(schema).items() if code in languages}
    return frozenset((iris & schema.predicate_of.keys()) | of_names | alike | translated)


def _connected_order(ranked: Sequence[str], links: Sequence[TableLink]) -> tuple[list[str], list[str]]:
    """The tables of a question with those between them, then its other tables, in the order in which they are shown."""
    near: dict[str, dict[str, int]] = {}
    for link in links:
        if link.subject and link.object:
            for one, other in ((link.subject, link.object), (link.object, link.subject)):
                neighbours = near.setdefault(one, {})
                neighbours[other] = neighbours.get(other, 0) + link.triples
    seeds = list(ranked[:SEEDS])
    between = [name for one, other in combinations(seeds, 2) for name in _path(one, other, near)]
    referred = [link.object for seed in seeds for link in links if link.subject == seed]
    referring = [link.subject for seed in seeds for link in links if link.object == seed]
    # each further seed is followed by the path to it from the first
    paths = [name for seed in seeds[1:] for name in (seed, *_path(seeds[0], seed, near))]
    core = dict.fromkeys(name for name in [*seeds[:1], *paths, *between] if name)
    return list(core), [name for name in dict.fromkeys([*referred, *referring, *ranked]) if name and name not in core]


def _with_junctions(order: Sequence[str], schema: Schema, links: Sequence[TableLink]) -> Iterator[str]:
    """The tables, each followed by the junctions between it and those before it."""
    joined: dict[str, list[tuple[str, str]]] = {}
    for link in links:
        if link.predicate in schema.junctions:
            for one, other in ((link.subject, link.object), (link.object, link.subject)):
                joined.setdefault(one, []).append((other, schema.junctions[link.predicate]))
    before: set[str] = set()
    for name in order:
        before.add(name)
        yield name
        yield from (junction for other, junction in joined.get(name, ()) if other in before)


def _path(one: str, other: str, near: Mapping[str, Mapping[str, int]]) -> list[str]:
    """The tables of a shortest path between two, at most `LONGEST_PATH` links long; of several the most used."""
    paths = {one: [one]}
    for _ in range(LONGEST_PATH):
        further: dict[str, list[str]] = {}
        for end, path in paths.items():
            for following in sorted(near.get(end, ()), key=lambda name: (-near[end][name], name)):
                if following == other:
                    return path[1:]
                if following not in path:
                    further.setdefault(following, [*path, following])
        paths = further
    return []


def _ranked(understanding: Understanding, schema: Schema, lexicon: Lexicon) -> list[Relation]:
    """Relations by relevance: those of linked names and readings, those that share words with the question or are
    near."""
    iris, asked_words = _meant_iris(understanding), content_words(understanding.standalone)
    classes = {each.relation: each for each in schema.classes}
    groups = {each.relation: each for each in schema.groups}
    homes = {thing.relation for iri in iris if (thing := lexicon.thing(iri))}
    near = _nearness(understanding.standalone, schema, lexicon)
    seldom = {each.iri for each in schema.predicates if is_secondary(schema, each)}
    worth: list[tuple[tuple[float, bool, int, str], Relation]] = []
    for relation in schema.relations:
        if relation.name in schema.hidden_relations:
            continue
        group, known = groups.get(relation.name), classes.get(relation.name)
        of = set(group.classes) if group else {known.iri} if known else set()
        predicates = {column.predicate for column in relation.columns}
        if relation.kind == "view":
            # its columns are those of a table
            predicates = set()
        elif relation.kind == "junction":
            predicates -= seldom - iris
        own = content_words(f"{split_name(relation.name)} {relation.comment} {known.label if known else ''}")
        labels = content_words(" ".join(schema.predicate_of[i].label for i in predicates if i in schema.predicate_of))
        # a named table counts more than a table with a named column (given)
        spoken = 3 * len(own & asked_words) + 2 * len(of & iris) + (relation.name in homes) + len(predicates & iris)
        score = spoken + len(labels & asked_words - own)
        # a view that only resembles the question repeats the rows of a table
        resembles = 2 * near.get(relation.name, 0.0) if score or relation.kind != "view" else 0.0
        if score + resembles > 0:
            members = group.count if group else known.count if known else 0
            worth.append(((-score - resembles, relation.kind == "view", -members, relation.name), relation))
    return [relation for _, relation in sorted(worth, key=lambda each: each[0])]


def _nearness(question: str, schema: Schema, lexicon: Lexicon) -> dict[str, float]:
    """The similarity of the question to each class, 0..1 by table; empty without an embedder."""
    if lexicon.embedder is None or not schema.classes:
        return {}
    shown = [each for each in schema.classes if each.count]
    texts = [f"{each.label}. {each.comment}"[:200] for each in shown]
    (asked,) = lexicon.embedder.embed([question])
    vectors = label_vectors(lexicon.embedder, texts)
    return {each.relation: max(0.0, float(vector @ asked)) for each, vector in zip(shown, vectors, strict=True)}


def _strings_in(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping | list):
        for each in data.values() if isinstance(data, Mapping) else data:
            yield from _strings_in(each)


# characters of a question and of a query that are shown (given)
LONGEST_QUESTION, LONGEST_QUERY = 200, 600


def verified_example_lines(understanding: Understanding, database: Database, tokens: int) -> list[str]:
    """Two lines for each of the nearest verified questions, the question and the query that a person confirmed for it,
    as many as the tokens hold. What they contain is quoted as data."""
    lines: list[str] = []
    left = tokens * CHARACTERS_PER_TOKEN
    for each in understanding.examples:
        query = _query(each, database)
        # a part of a query would teach what no query may be
        if not query or len(query) > LONGEST_QUERY:
            continue
        found = [f"Question: {quote_line(each.standalone)[:LONGEST_QUESTION]}", quote_line(query)]
        left -= sum(map(len, found))
        if left < 0:
            break
        lines += found
    return lines


def _query(verified: VerifiedQuestion, database: Database) -> str:
    """The query, or the plan in words if the language of the database has none; "" if it fits this graph no more."""
    if verified.query is not None:
        is_same = verified.query["tool"] == database.language
        return f"Query: {' '.join(verified.query['text'].split())}" if is_same else ""
    try:
        body = from_json(Plan, verified.plan).body
        if database.language == "sql" and isinstance(body, Select | Combine):
            statement = to_sql(body, database.schema)
            return f"Query: {query_text(Query('sql', 0, statement.text, params=statement.params))}"
        return f"It means: {verbalise_plan(Plan(body), database.schema)}"
    except (ValidationError, NacreError, KeyError):
        # the graph was replaced by one with other classes and properties
        return ""


_PARAMETER = re.compile(r"'(?:[^']|'')*+'|\"[^\"]*+\"|\?")


def query_text(query: Query) -> str:
    """The query on one line, with its parameters as literals.

    >>> query_text(Query("sql", 1, "SELECT a FROM b\\nWHERE c = ? AND d < ?", params=("it's", 3.0)))
    "SELECT a FROM b WHERE c = 'it''s' AND d < 3.0"
    """
    params = iter(query.params)

    def filled(found: re.Match[str]) -> str:
        return _sql_literal(next(params, None)) if found[0] == "?" else found[0]

    text = _PARAMETER.sub(filled, query.text) if query.params else query.text
    return " ".join(text.split())


def _sql_literal(value: Cell) -> str:
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
