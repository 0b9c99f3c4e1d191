import pytest

from nacre.errors import ToolError
from nacre.extensions.foreign_queries.sql_guard import guard_sql, sql_text

RELATIONS = {"dish", "ingredient", "entity"}


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("select * from dish", "SELECT * FROM dish LIMIT 100"),
        ("SELECT label FROM main.entity LIMIT 5;", "SELECT label FROM main.entity LIMIT 5"),
        ("(select 1)", "SELECT 1 LIMIT 100"),
        ("select * from dish limit -1", "SELECT * FROM dish LIMIT 100"),
        ("select * from dish limit 1000000", "SELECT * FROM dish LIMIT 100"),
        ("select * from dish limit (select 10000)", "SELECT * FROM dish LIMIT 100"),
        ("select 1 /* hidden */ -- more", "SELECT 1 LIMIT 100"),
        ("select ';drop table dish'", "SELECT ';drop table dish' LIMIT 100"),
        ("select id from dish union select id from dish", "SELECT id FROM dish UNION SELECT id FROM dish LIMIT 100"),
        ("with d as (select 1) select count(*) from d", "WITH d AS (SELECT 1) SELECT COUNT(*) FROM d LIMIT 100"),
    ],
)
def test_one_reading_statement_passes(text: str, normal: str) -> None:
    assert sql_text(guard_sql(text, RELATIONS, limit=100)) == normal


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "refused"),
        ("-- nothing", "refused"),
        ("select 1; select 2", "refused"),
        ("select * from dish; drop table dish", "refused"),
        ("insert into dish values (1)", "refused"),
        ("insert into dish select * from dish", "refused"),
        ("replace into dish values (1)", "refused"),
        ("update dish set id = 1", "refused"),
        ("delete from dish", "refused"),
        ("with d as (delete from dish returning *) select * from d", "refused"),
        ("drop table dish", "refused"),
        ("alter table dish add column x", "refused"),
        ("create table t as select * from dish", "refused"),
        ("create temp table t (x)", "refused"),
        ("select * into t from dish", "refused"),
        ("attach 'x.sqlite' as x", "refused"),
        ("detach x", "refused"),
        ("vacuum into 'copy.sqlite'", "refused"),
        ("vacuum", "refused"),
        ("reindex", "refused"),
        ("analyze", "refused"),
        ("pragma query_only = off", "refused"),
        ("begin", "refused"),
        ("commit", "refused"),
        ("rollback", "refused"),
        ("explain select 1", "refused"),
        ("values (1)", "refused"),
        ("select ?", "refused"),
        ("select :name", "refused"),
        ("select @name", "refused"),
        ("select * from pragma_table_info('dish')", "refused"),
        ("select * from json_each('[1]')", "refused"),
        ("select * from temp.dish", "refused"),
        ("select * from other.dish", "refused"),
        ("select load_extension('x')", "refused"),
        ("select randomblob(1000000000)", "refused"),
        ("select length(zeroblob(1000000000))", "refused"),
        ("select printf('%.*c', 900000000, 'x')", "refused"),
        ("select format('%.*c', 900000000, 'x')", "refused"),
        ("select sqlite_source_id()", "refused"),
        ("select 1 where exists (select writefile('x', 'y'))", "refused"),
        ("select '" + "x" * 20000 + "'", "refused"),
        ("select * from sqlite_master", "unknown_name"),
        ("select * from sqlite_schema", "unknown_name"),
        ("select * from _nacre_meta", "unknown_name"),
        ("select * from dish where id in (select id from secret)", "unknown_name"),
        ("select * from dishes", "unknown_name"),
        ("select * form dish", "syntax"),
        ("select * from dish where", "syntax"),
        ("select (((", "syntax"),
        ("tell me about dishes", "syntax"),
    ],
)
def test_all_else_is_refused(text: str, kind: str) -> None:
    with pytest.raises(ToolError) as refused:
        guard_sql(text, RELATIONS, limit=100)
    assert refused.value.kind == kind


def test_an_unknown_table_is_told_the_nearest() -> None:
    with pytest.raises(ToolError, match=r"no table 'dishes'. The nearest is 'dish'"):
        guard_sql("select * from dishes", RELATIONS, limit=100)


def test_deep_nesting_is_refused_and_not_a_crash() -> None:
    with pytest.raises(ToolError):
        guard_sql("select " + "(" * 3000 + "1" + ")" * 3000, RELATIONS, limit=100)
