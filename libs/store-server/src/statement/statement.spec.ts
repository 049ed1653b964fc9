import { describe, expect, it } from 'vitest';
import { parseInsertWithData, parseStatement } from './statement.js';

describe('parseStatement', () => {
  it.each([
    ['SELECT 1', 'SELECT 1', null, ''],
    [' select 1 format JSON ; ', 'select 1 ', 'JSON', ''],
    ['SELECT 1 FORMAT JSON SETTINGS max_threads = 1', 'SELECT 1 ', 'JSON', ' SETTINGS max_threads = 1'],
    ['SELECT 1 SETTINGS max_threads = 1 FORMAT JSON', 'SELECT 1 SETTINGS max_threads = 1 ', 'JSON', ''],
    ["SELECT 'FORMAT JSON'", "SELECT 'FORMAT JSON'", null, ''],
    ['SELECT 1 -- FORMAT JSON', 'SELECT 1', null, ''],
    ['SELECT format FROM t', 'SELECT format FROM t', null, ''],
    ['SELECT (SELECT a FROM t WHERE format (x))', 'SELECT (SELECT a FROM t WHERE format (x))', null, ''],
    ['WITH 1 AS a SELECT a FORMAT CSV', 'WITH 1 AS a SELECT a ', 'CSV', ''],
    ['(SELECT 1) UNION ALL (SELECT 2) FORMAT TSV', '(SELECT 1) UNION ALL (SELECT 2) ', 'TSV', ''],
    ['SHOW TABLES FORMAT JSONEachRow', 'SHOW TABLES ', 'JSONEachRow', ''],
  ])('%s is rows in a format', (text, body, format, tail) => {
    expect(parseStatement(text)).toEqual({ kind: 'rows', body, format, tail });
  });

  it.each([
    ['INSERT INTO t FORMAT TSV\n1', 'INSERT INTO t ', '', 'TSV', '\n1'],
    [
      'INSERT INTO t (a, format) SETTINGS x = 1 FORMAT TSV',
      'INSERT INTO t (a, format) ',
      'SETTINGS x = 1 ',
      'TSV',
      '',
    ],
    ["insert into `values` values (1), ('open", 'insert into `values` ', '', 'Values', " (1), ('open"],
    ['INSERT INTO t FORMAT Native \0\x01', 'INSERT INTO t ', '', 'Native', ' \0\x01'],
  ])('%j is an insert with data', (text, target, tail, format, data) => {
    const statement = parseInsertWithData(text);
    expect(statement).toEqual({
      kind: 'insert',
      target,
      tail,
      format,
      dataOffset: text.length - data.length,
    });
    expect(parseStatement(text)).toEqual(statement);
  });

  it.each([
    ['INSERT INTO t SELECT 1;', 'INSERT'],
    ['INSERT INTO t (a) (SELECT 1)', 'INSERT'],
    ['INSERT INTO t WITH 1 AS a SELECT a', 'INSERT'],
    ['CREATE TABLE t (a Int8) ENGINE = Memory', 'CREATE'],
    ['EXPLAIN AST SELECT 1 FORMAT JSON', 'EXPLAIN'],
  ])('%s is a command', (text, keyword) => {
    expect(parseStatement(text)).toEqual({ kind: 'command', text: text.replace(';', ''), keyword });
    expect(parseInsertWithData(text)).toBeNull();
  });

  it.each([
    ['', 'SYNTAX_ERROR'],
    [' ; ; ', 'SYNTAX_ERROR'],
    ['SELECT 1; SELECT 2', 'SYNTAX_ERROR'],
    ['SELECT 1 \\G', 'SYNTAX_ERROR'],
    ["SELECT 'open", 'SYNTAX_ERROR'],
    ["SELECT 1 INTO OUTFILE 'x'", 'INTO_OUTFILE_NOT_ALLOWED'],
    ["EXPLAIN SELECT (SELECT 1 INTO /**/ outfile 'x')", 'INTO_OUTFILE_NOT_ALLOWED'],
    ["INSERT INTO t FROM INFILE 'x' FORMAT TSV", 'UNSUPPORTED_METHOD'],
  ])('refuses %j', (text, exceptionName) => {
    expect(() => parseStatement(text)).toThrow(expect.objectContaining({ exceptionName }));
  });
});
