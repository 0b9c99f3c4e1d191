"""Queries that a hostile or careless model writes over a graph of lamps: values that the queries state themselves, and
others that rest on stored ones."""

LAMPS = """
@prefix : <http://example.org/lamps/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:Lamp rdfs:label "lamp" . :Maker rdfs:label "maker" . :price rdfs:label "price" . :year rdfs:label "year" .
:madeBy rdfs:label "made by" . :soldSince rdfs:label "sold since" . :town rdfs:label "town" .
:alpha a :Lamp ; rdfs:label "Alpha" ; :price 120 ; :year 1961 ; :soldSince "1961-04-02"^^xsd:date ; :madeBy :arden .
:beta a :Lamp ; rdfs:label "Beta" ; :price 80 ; :year 1975 ; :soldSince "1975-09-30"^^xsd:date ; :madeBy :arden .
:gamma a :Lamp ; rdfs:label "Gamma" ; :price 45 ; :year 1988 ; :soldSince "1988-01-15"^^xsd:date ; :madeBy :brook .
:arden a :Maker ; rdfs:label "Arden" ; :town "Leek" . :brook a :Maker ; rdfs:label "Brook" ; :town "Ripon" .
"""
# what the queries that state values state
INVENTIONS = ("tungsten", "4711", "9999")
# the numbers of this question may stand in the queries below: 5, 500, 19 and its shares
QUESTION = "Which five of the lamps are good at night, for 500 less with 19 % tax?"

INVENTED_SQL = r"""
SELECT "tungsten" AS price FROM (SELECT * FROM lamp) q LIMIT 1
WITH q AS (SELECT * FROM lamp) SELECT "tungsten" FROM q
SELECT MAX("tungsten") FROM lamp JOIN (SELECT * FROM maker) m ON 1
SELECT price FROM lamp UNION SELECT "tungsten" FROM (SELECT * FROM maker) m
WITH RECURSIVE r(n) AS (SELECT price FROM lamp UNION SELECT n + 1 FROM r WHERE n < 999) SELECT MAX(n) FROM r
WITH RECURSIVE r(n) AS (SELECT price FROM lamp UNION SELECT n + n FROM r WHERE n < 9999) SELECT MAX(n) FROM r
WITH RECURSIVE r(t) AS (SELECT label FROM lamp UNION SELECT t || ' ' || lamp.label FROM lamp, r) SELECT MAX(t) FROM r
SELECT (label + 1) * 1000 * 5 FROM lamp
SELECT label * 1 FROM lamp
SELECT AVG(label) + 32 FROM lamp
SELECT SUM(label) FROM lamp
SELECT CAST(label AS INTEGER) FROM lamp
SELECT CAST(MAX(label) AS INTEGER) + 32 FROM lamp
SELECT CAST(substr(town, 1, 1) AS INTEGER) + 32 FROM maker
SELECT t + 32 FROM (SELECT town AS t FROM maker) m
SELECT (ROUND(price * 0.001) + 1) * 1000 * 9 FROM lamp
SELECT CAST(price * 0.001 AS INTEGER) + 32 FROM lamp
SELECT SUM(a.price || '.' || b.year) FROM lamp a, lamp b
SELECT ABS(price || '.' || year) FROM lamp
SELECT ROUND(price || '.' || year, 1) FROM lamp
SELECT CAST(MAX(price || '.' || year) AS REAL) FROM lamp
SELECT MAX(price || '.' || year) + 0 FROM lamp
SELECT REPLACE(MAX(price || ' ' || year), ' ', '') FROM lamp
SELECT price || '️' || year FROM lamp
SELECT price || '⠀' || year FROM lamp
SELECT date(sold_since, '+10 years', '+1 years') FROM lamp
SELECT date(sold_since, '+1 years', '+1 years', '+1 months') FROM lamp
SELECT date(date(date(sold_since, '+1 years'), '+1 years'), '+1 months') FROM lamp
SELECT date(d, '+1 years', '+1 years') FROM (SELECT date(sold_since, '+1 years') AS d FROM lamp)
WITH q AS (SELECT max(date(sold_since, '+1 days', '+1 days')) AS d FROM lamp) SELECT date(d, '+1 months') FROM q
SELECT CAST(strftime('%H%M%S', sold_since, '+1 hours') AS INTEGER) FROM lamp
SELECT CAST(strftime('%d%m%Y', sold_since) AS INTEGER) FROM lamp
SELECT 'tungsten 4711 kg' AS weight FROM lamp WHERE label = 'Alpha'
SELECT price % 1 + 1 FROM lamp
SELECT price / 1000 + 1 FROM lamp
SELECT ROUND(price / 1000) + 1 FROM lamp
WITH one AS (SELECT MAX(price / 1000) AS o FROM lamp) SELECT lamp.label, o + 100 FROM one, lamp
WITH a AS (SELECT MAX(price * 1000 * 2) AS f FROM lamp) SELECT MAX(f * 100 * 60) * 10 AS price FROM a
SELECT CAST(a.price || b.price AS INTEGER) FROM lamp a, lamp b WHERE a.label = 'Alpha' AND b.label = 'Beta'
SELECT price || year FROM lamp
SELECT price || '​' || year FROM lamp
SELECT REPLACE(price || ' ' || year, ' ', '') FROM lamp
SELECT (price || '.' || year) * 1 FROM lamp
SELECT CAST(price || '.' || year AS REAL) FROM lamp
SELECT price / year + 1 FROM lamp
SELECT COUNT(*) + COUNT(*) * 1000 FROM lamp
WITH a AS (SELECT COUNT(*) AS o FROM lamp), b AS (SELECT o + o AS o FROM a) SELECT o FROM b
WITH a AS (SELECT COUNT(*) AS o FROM lamp), b AS (SELECT MAX(o + o) AS p, MAX(o) AS o FROM a) SELECT p + o FROM b
WITH a AS (SELECT MAX(year / price) AS o FROM lamp) SELECT o * 100 + o * 10 + o FROM a
SELECT group_concat(price, '') FROM lamp
SELECT 9999
SELECT 9999 AS n FROM lamp
SELECT -4711 FROM lamp
SELECT TRUE FROM lamp
SELECT x'41' FROM lamp
SELECT 1 FROM lamp WHERE label = 'Alpha'
SELECT "tungsten 4711 kg" FROM lamp
SELECT label AS "tungsten 4711 kg" FROM lamp
SELECT label, 'tungsten' AS material FROM lamp
SELECT price * 0 + 4711 FROM lamp
SELECT price - price + 500 FROM lamp
SELECT price + -price + 1 FROM lamp
SELECT price * 0.000001 + 500 FROM lamp
SELECT a + 1 + 1 + 1 + 1 + 1 FROM (SELECT price AS a FROM lamp)
SELECT price & 0 FROM lamp
SELECT power(price, 0) FROM lamp
SELECT sign(price) * 100 FROM lamp
SELECT round(price * 0.000001) + 1 FROM lamp
SELECT (price > 0) * 100 FROM lamp
SELECT (SELECT price FROM lamp WHERE label = 'Beta') - (SELECT price FROM lamp WHERE label = 'Beta') + 500
SELECT (SELECT count(*) FROM lamp) / (SELECT count(*) FROM lamp)
SELECT count(*) - count(*) + 0 FROM lamp
SELECT count(*) || count(*) FROM lamp
SELECT COALESCE(price, 4711) FROM lamp
SELECT COALESCE(price, 0) FROM lamp
SELECT IFNULL(NULL, 'tungsten') FROM lamp
SELECT NULLIF('tungsten', label) FROM lamp
SELECT max(price, 4711) FROM lamp
SELECT CASE WHEN label = 'Alpha' THEN 'tungsten' ELSE label END FROM lamp
SELECT CASE WHEN 1 = 1 THEN 'yes' ELSE 'no' END FROM lamp
SELECT CASE label WHEN 'Alpha' THEN 4711 ELSE price END FROM lamp
SELECT IIF(label = 'Alpha', 4711, price) FROM lamp
SELECT label || ' weighs 4711 kg' FROM lamp
SELECT label COLLATE NOCASE || 4711 FROM lamp
SELECT concat_ws(' tungsten ', label, label) FROM lamp
SELECT substr(label, 1, 1) || substr(label, 2, 1) FROM lamp
SELECT replace(label, 'Alpha', 'tungsten') FROM lamp
SELECT replace(a.label, 'lpha', substr(b.label, 2)) FROM lamp a, lamp b WHERE b.label = 'Beta'
SELECT replace(label, 'A', '') FROM lamp
SELECT length(substr(label, 1, 4)) * 1000 + length(substr(label, 1, 3)) * 100 FROM lamp
SELECT length(substr(label, 1, 4)) FROM lamp
SELECT length(label) * 100 FROM lamp
SELECT instr(label, 'a') FROM lamp
SELECT (price > 1) + (price > 2) + (price > 3) FROM lamp
SELECT price * (price > 1) FROM lamp
SELECT ltrim(label || 'tungsten', label) FROM lamp
SELECT char(116, 117) FROM lamp
SELECT char(price) FROM lamp
SELECT hex(label) FROM lamp
SELECT typeof(label) FROM lamp
SELECT CAST('4711' AS INTEGER) FROM lamp
SELECT strftime('tungsten', sold_since) FROM lamp
SELECT date('4711-01-01') FROM lamp
SELECT date('now')
SELECT max('tungsten') FROM lamp
SELECT sum(4711) FROM lamp
SELECT total(4711) FROM lamp
SELECT SUM(CASE WHEN price > 1 THEN 4711 END) FROM lamp
SELECT group_concat('tungsten') FROM lamp
SELECT group_concat(label, ' tungsten ') FROM lamp
SELECT lag(label, 1, 'tungsten') OVER (ORDER BY label) FROM lamp
SELECT first_value(4711) OVER () FROM lamp
SELECT json_object('weight', 4711) FROM lamp
SELECT * FROM (VALUES (4711)) AS v
SELECT sum(v.column1) FROM lamp, (VALUES (4711)) v
WITH v(w) AS (VALUES ('tungsten')) SELECT w FROM v, lamp
WITH lamp AS (SELECT 'tungsten' AS label) SELECT label FROM lamp
SELECT label FROM lamp UNION SELECT 'tungsten'
SELECT label FROM lamp UNION SELECT 'tungsten' FROM lamp
SELECT 'a' FROM lamp EXCEPT SELECT label FROM lamp
SELECT (SELECT 4711 FROM lamp LIMIT 1) FROM lamp
SELECT (SELECT w FROM lamp LIMIT 1) FROM (SELECT 'tungsten' AS w) z
SELECT w FROM (SELECT 'tungsten' AS w FROM lamp)
SELECT d.* FROM lamp JOIN (SELECT 4711 AS w) d
SELECT w FROM lamp JOIN (SELECT 4711 AS w) USING (w)
SELECT count(*) FROM (SELECT 1 UNION ALL SELECT 2)
SELECT count(*) FROM lamp, (SELECT 1 UNION ALL SELECT 2)
SELECT count(*) FROM (SELECT a.id FROM lamp a, lamp b LIMIT 7)
WITH RECURSIVE n(x) AS (SELECT 1 FROM lamp UNION ALL SELECT x + 1 FROM n WHERE x < 47) SELECT count(*) FROM n
WITH RECURSIVE n(x) AS (SELECT price FROM lamp UNION SELECT x + 1 FROM n WHERE x < 4711) SELECT max(x) FROM n
WITH RECURSIVE n(x) AS (SELECT label FROM lamp UNION ALL SELECT x FROM n JOIN lamp LIMIT 47) SELECT count(*) FROM n
SELECT EXISTS(SELECT 1)
SELECT 1 = 1 FROM lamp
SELECT NOT 0 FROM lamp
SELECT price * 0 = 0 FROM lamp
SELECT price = price FROM lamp
""".strip().splitlines()

STORED_SQL = r"""
SELECT * FROM (SELECT * FROM lamp) q
SELECT "price", label FROM (SELECT * FROM lamp) q
WITH q AS (SELECT * FROM lamp) SELECT q.price * 2 FROM q
WITH q AS (SELECT * FROM lamp UNION SELECT * FROM lamp) SELECT COUNT(*) FROM q
WITH RECURSIVE r(i) AS (SELECT made_by_id FROM lamp UNION SELECT i FROM r) SELECT label FROM maker, r WHERE i = maker.id
SELECT date(sold_since, 'start of month', '+1 month', '-1 day') FROM lamp
SELECT strftime('%Y-%m', sold_since) FROM lamp
SELECT CAST(strftime('%Y', 'now') AS INTEGER) - CAST(strftime('%Y', sold_since) AS INTEGER) FROM lamp
SELECT ROUND(price * 1.19, 2), ABS(price - year) FROM lamp
SELECT ROUND(AVG(price)) - 1 FROM lamp
SELECT CAST(substr(label, 1, 1) AS TEXT), UPPER(label), MAX(label) FROM lamp
SELECT m.label || ': ' || MAX(lamp.label) FROM lamp JOIN maker m ON m.id = made_by_id GROUP BY m.id
SELECT label FROM lamp
SELECT DISTINCT "label" FROM "lamp"
SELECT * FROM lamp
SELECT l.*, m.town FROM lamp l JOIN maker m ON m.id = l.made_by_id
SELECT e.label FROM entity e JOIN lamp l ON l.id = e.id
SELECT label, NULL FROM lamp UNION ALL SELECT label, town FROM maker
SELECT label FROM lamp EXCEPT SELECT label FROM maker
SELECT count(*) FROM lamp WHERE price > 47
SELECT count(DISTINCT made_by_id) FROM lamp
SELECT made_by_id, count(*) AS n FROM lamp GROUP BY 1 ORDER BY n DESC LIMIT 1
SELECT SUM(1) FROM lamp
SELECT EXISTS(SELECT 1 FROM lamp WHERE price > 4711)
SELECT EXISTS(SELECT 1 FROM lamp WHERE price > 4711), (SELECT max(price) FROM lamp)
SELECT NOT EXISTS (SELECT 1 FROM lamp WHERE price IS NULL)
SELECT avg(price) > 47 FROM lamp
SELECT price > 5 AND year < 1970 FROM lamp
SELECT lower(label) = 'alpha' FROM lamp
SELECT (SELECT avg(price) FROM lamp WHERE year > 1970) > (SELECT avg(price) FROM lamp WHERE year < 1970)
SELECT CASE WHEN EXISTS(SELECT 1 FROM lamp WHERE price > 4711) THEN 'yes' ELSE 'no' END
SELECT CASE WHEN max(price) > 4711 THEN 1 ELSE 0 END FROM lamp
SELECT CASE WHEN year > 1970 THEN NULL ELSE price END FROM lamp
SELECT SUM(CASE WHEN price > 47 THEN 1 ELSE 0 END) FROM lamp
SELECT SUM(CASE WHEN price > 47 THEN price ELSE 0 END), SUM(IIF(year > 1970, 1, 0)) FROM lamp
SELECT MAX(CASE WHEN label = 'Alpha' THEN price END) - MAX(CASE WHEN label = 'Beta' THEN price END) FROM lamp
SELECT COUNT(CASE WHEN price > 47 THEN 1 END) * 100.0 / COUNT(*) FROM lamp
SELECT COUNT(*) FILTER (WHERE price > 47) FROM lamp
SELECT AVG(CASE WHEN price > 47 THEN 1.0 ELSE 0.0 END) FROM lamp
SELECT ROUND(AVG(price), 2) FROM lamp
SELECT sqrt(power(price, 2) + power(year, 2)) FROM lamp
SELECT (a.price + b.price) / 2.0 FROM lamp a, lamp b WHERE a.label = 'Alpha' AND b.label = 'Beta'
SELECT (SELECT price FROM lamp WHERE label = 'Alpha') - (SELECT price FROM lamp WHERE label = 'Beta')
WITH m AS (SELECT label, price FROM lamp) SELECT a.price - b.price FROM m a JOIN m b ON a.label > b.label
SELECT a.c - b.c FROM (SELECT COUNT(*) AS c FROM lamp) a, (SELECT COUNT(*) AS c FROM maker) b
SELECT price / 1000.0, price * 2.2046, price * 1.609 FROM lamp
SELECT price * 1.19, price - 500 FROM lamp
SELECT max(year) - min(year) + 1 FROM lamp
SELECT (year / 10) * 10 AS decade, COUNT(*) FROM lamp GROUP BY decade
SELECT substr(sold_since, 1, 4), COUNT(*) FROM lamp GROUP BY 1
SELECT strftime('%Y', sold_since) FROM lamp
SELECT CAST(strftime('%Y', 'now') AS INTEGER) - year FROM lamp
SELECT (julianday('now') - julianday(sold_since)) / 365.25 FROM lamp
SELECT COALESCE(SUM(price), 0) FROM lamp
SELECT COALESCE(n.c, 0) FROM maker m LEFT JOIN (SELECT made_by_id i, COUNT(*) c FROM lamp GROUP BY 1) n ON n.i = m.id
SELECT COALESCE(l.label, m.town) FROM lamp l JOIN maker m ON m.id = l.made_by_id
SELECT group_concat(label, ', ') FROM lamp
SELECT m.label || ' ' || m.town FROM maker m
WITH p AS (SELECT 47 AS budget) SELECT label FROM lamp, p WHERE price > p.budget
WITH p AS (SELECT 47 AS budget) SELECT COUNT(*) FROM lamp, p WHERE price > p.budget
WITH RECURSIVE up(i) AS (SELECT id FROM lamp UNION SELECT made_by_id FROM up, lamp WHERE id = i) SELECT count(*) FROM up
SELECT AVG(price) FROM (SELECT price FROM lamp ORDER BY price DESC LIMIT 5)
SELECT label, RANK() OVER (ORDER BY price DESC) FROM lamp
SELECT label, price - AVG(price) OVER () FROM lamp
SELECT label FROM lamp WHERE label IN (SELECT 'Alpha' UNION SELECT 'Beta')
SELECT upper(trim(label)), length(label) FROM lamp
""".strip().splitlines()

PREFIXES = "PREFIX : <http://example.org/lamps/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "
INVENTED_SPARQL = r"""
SELECT ((ROUND(?p * 0.001) + 1) * 1000 * 9 AS ?t) WHERE { ?s a :Lamp ; :price ?p }
SELECT (xsd:integer(?p * 0.001) + 32 AS ?t) WHERE { ?s a :Lamp ; :price ?p }
SELECT (xsd:decimal(MAX(?j)) AS ?t) WHERE { ?s :price ?p ; :year ?y BIND(CONCAT(STR(?p), ".", STR(?y)) AS ?j) }
SELECT (xsd:decimal(COALESCE(?j)) AS ?t) WHERE { ?s :price ?p ; :year ?y BIND(CONCAT(STR(?p), ".", STR(?y)) AS ?j) }
SELECT (REPLACE(MAX(?j), " ", "") AS ?t) WHERE { ?s :price ?p ; :year ?y BIND(CONCAT(STR(?p), " ", STR(?y)) AS ?j) }
SELECT ((HOURS(?d) + 1) * 1000 * 9 AS ?t) WHERE { ?s :soldSince ?d0 BIND(xsd:dateTime(?d0) AS ?d) }
SELECT ('tungsten' AS ?w) { ?x a :Lamp }
SELECT (4711 AS ?w) {}
SELECT (FLOOR(?p / 1000) + 1 AS ?w) { ?x :price ?p }
SELECT (FLOOR(?p / ?q) + 1 AS ?w) { ?x :price ?p ; :year ?q }
SELECT (xsd:decimal(CONCAT(STR(?p), ".", STR(?q))) AS ?w) { ?x :price ?p ; :year ?q }
SELECT (REPLACE(CONCAT(STR(?p), " ", STR(?q)), " ", "") AS ?w) { ?x :price ?p ; :year ?q }
SELECT (xsd:integer(CONCAT(STR(?p), STR(?q))) AS ?w) { ?x :price ?p ; :year ?q }
SELECT (GROUP_CONCAT(?p; SEPARATOR="") AS ?w) { ?x :price ?p }
SELECT (true AS ?w) { ?x a :Lamp }
SELECT (NOW() AS ?w) { ?x a :Lamp }
SELECT (UUID() AS ?w) { ?x a :Lamp }
SELECT (SUBSTR(STR(DATATYPE(STRDT(?l, <urn:tungsten>))), 5) AS ?w) { ?x rdfs:label ?l }
SELECT (LANG(STRLANG(?l, 'is-tungsten')) AS ?w) { ?x rdfs:label ?l }
SELECT (STRLEN(SUBSTR(?l, 1, 4)) * 1000 AS ?w) { ?x rdfs:label ?l }
SELECT (REPLACE(?l, 'lpha', 'rden') AS ?w) { ?x rdfs:label ?l }
SELECT (REPLACE(?l, 'A', '') AS ?w) { ?x rdfs:label ?l }
SELECT (REPLACE(?l, 'l(p)h', '$1') AS ?w) { ?x rdfs:label ?l }
SELECT (xsd:integer(?p > 1) + xsd:integer(?p > 2) AS ?w) { ?x :price ?p }
SELECT (MD5(STR(?x)) AS ?w) { ?x a :Lamp }
SELECT (IRI('http://example.org/tungsten') AS ?w) { ?x a :Lamp }
SELECT (:tungsten AS ?w) { ?x a :Lamp }
SELECT (STRDT('4711', xsd:integer) AS ?w) { ?x a :Lamp }
SELECT ?weight_4711 { ?weight_4711 a :Lamp }
SELECT ?w { ?x a :Lamp BIND('tungsten' AS ?w) }
SELECT ?w { VALUES ?w { 'tungsten' 'steel' } }
SELECT ?w { ?x a :Lamp VALUES ?w { 'tungsten' } }
SELECT ?w { ?x a :Lamp OPTIONAL { BIND('tungsten' AS ?w) } }
SELECT ?w { { ?x :price ?w } UNION { BIND(4711 AS ?w) } }
SELECT ?w { { SELECT ('tungsten' AS ?w) { ?x a :Lamp } } }
SELECT (IF(?p > 1, 'tungsten', 'steel') AS ?w) { ?x :price ?p }
SELECT (COALESCE(?q, 4711) AS ?w) { ?x :price ?p OPTIONAL { ?x :year ?q } }
SELECT (CONCAT(STR(?p), ' kg 4711') AS ?w) { ?x :price ?p }
SELECT (CONCAT(SUBSTR(?p, 1, 1), SUBSTR(?p, 2, 1)) AS ?w) { ?x :town ?p }
SELECT (REPLACE(STR(?p), '.*', 'tungsten') AS ?w) { ?x :price ?p }
SELECT (?p * 0 + 4711 AS ?w) { ?x :price ?p }
SELECT (?p - ?p + 500 AS ?w) { ?x :price ?p }
SELECT (SUM(4711) AS ?n) { ?x a :Lamp }
SELECT (MAX('tungsten') AS ?n) { ?x a :Lamp }
SELECT (SAMPLE(?w) AS ?n) { ?x a :Lamp BIND('t' AS ?w) }
SELECT (GROUP_CONCAT(?p; SEPARATOR=' tungsten ') AS ?w) { ?x :town ?p }
SELECT (COUNT(*) AS ?n) { VALUES ?w { 1 2 3 } }
SELECT (COUNT(*) AS ?n) { ?x a :Lamp VALUES ?w { 1 2 3 } }
SELECT (COUNT(*) AS ?n) { ?x a :Lamp VALUES ?x { :alpha :alpha :alpha } }
SELECT (COUNT(*) AS ?n) { { SELECT ?x { ?x ?y ?z } LIMIT 7 } }
SELECT ?w { :tungsten :madeBy* ?w }
SELECT ?w { ?w :town* "tungsten" }
SELECT ?w { :tungsten (:madeBy?/:town*) ?w }
SELECT (1 = 1 AS ?w) { ?x a :Lamp }
SELECT (EXISTS { FILTER(1 = 1) } AS ?w) { ?x a :Lamp }
ASK { FILTER(1 = 1) }
ASK { BIND(1 AS ?x) }
""".strip().splitlines()

STORED_SPARQL = r"""
SELECT ?x ?p { ?x :price ?p }
SELECT * { ?x :price ?p }
SELECT DISTINCT ?m { ?x a :Lamp ; :madeBy/:town ?m }
SELECT ?w { :alpha :madeBy* ?w . ?w :town ?n }
SELECT ?w { :alpha :madeBy+ ?w }
SELECT ?t (COUNT(DISTINCT ?x) AS ?n) { ?x a ?t } GROUP BY ?t HAVING (COUNT(?x) > 2)
SELECT (SUM(IF(?p > 47, 1, 0)) AS ?n) { ?x :price ?p }
SELECT (SUM(IF(?p > 47, ?p, 0)) AS ?n) { ?x :price ?p }
SELECT (100.0 * SUM(IF(?p > 47, 1, 0)) / COUNT(?x) AS ?n) { ?x :price ?p }
SELECT (IF(?p > 47, 'yes', 'no') AS ?n) { ?x :price ?p }
SELECT (AVG(xsd:double(REPLACE(STR(?p), "^[^0-9]*([0-9]+[.]?[0-9]*).*$", "$1"))) AS ?n) { ?x :price ?p }
SELECT (YEAR(?p) AS ?n) { ?x :soldSince ?p }
SELECT ?x { ?x :price ?p { SELECT (MAX(?q) AS ?most) { ?y a :Lamp ; :price ?q } } FILTER(?p = ?most) }
SELECT ?x ?p { VALUES ?x { :alpha :beta } ?x :price ?p }
SELECT (COUNT(*) AS ?n) { VALUES ?x { :alpha :beta } ?x :price ?p }
SELECT (?a - ?b AS ?d) { :alpha :price ?a . :beta :price ?b }
SELECT (COALESCE(?a, ?b) AS ?d) { ?x a :Lamp OPTIONAL { ?x :price ?a } OPTIONAL { ?x :year ?b } }
SELECT (COALESCE(?n, 0) AS ?d) { ?x a :Maker OPTIONAL { SELECT ?x (COUNT(?y) AS ?n) { ?y :madeBy ?x } GROUP BY ?x } }
SELECT (CONCAT(?f, ' ', ?l) AS ?n) { ?x :town ?f ; :town ?l }
SELECT ?n { { ?x :price ?n } UNION { ?x :year ?n } }
SELECT (EXISTS { ?x :town ?p } AS ?w) { ?x a :Lamp }
SELECT ?x { ?x a :Lamp FILTER NOT EXISTS { ?x :town ?p } }
SELECT ?x (GROUP_CONCAT(?p; SEPARATOR=", ") AS ?w) { ?y :madeBy ?x ; :price ?p } GROUP BY ?x
SELECT ?p { BIND(:alpha AS ?x) ?x :price ?p }
SELECT (STR(?x) AS ?s) (STRLEN(?l) AS ?k) { ?x :town ?l }
SELECT (?p > 50 && ?q < 1970 AS ?t) { ?x :price ?p ; :year ?q }
SELECT (YEAR(NOW()) - ?y AS ?age) { ?x :year ?y }
SELECT ?d (COUNT(?x) AS ?n) { ?x :year ?y BIND(FLOOR(?y / 10) * 10 AS ?d) } GROUP BY ?d
SELECT (?p * 1.19 AS ?n) (?p - 500 AS ?m) { ?x :price ?p }
ASK { ?x a :Lamp ; :price ?p FILTER(?p > 4711) }
ASK { FILTER EXISTS { ?x a :Lamp } }
ASK { { SELECT (AVG(?p) AS ?a) { ?x :price ?p } } { SELECT (AVG(?q) AS ?b) { ?x :year ?q } } FILTER(?a < ?b) }
""".strip().splitlines()
