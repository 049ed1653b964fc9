import { describe, expect, it } from 'vitest';
import { sqlTokens, SqlTokenError } from './sql-tokens.js';

const texts = (sql: string) => [...sqlTokens(sql)].map(({ text }) => text);
const kinds = (sql: string) => [...sqlTokens(sql)].map(({ kind }) => kind);

describe('sqlTokens', () => {
  it('splits words, numbers and symbols, and knows where they stand', () => {
    expect([...sqlTokens('select a1+0x1F')]).toEqual([
      { kind: 'word', text: 'select', upper: 'SELECT', start: 0, end: 6 },
      { kind: 'word', text: 'a1', upper: 'A1', start: 7, end: 9 },
      { kind: 'symbol', text: '+', upper: '+', start: 9, end: 10 },
      { kind: 'number', text: '0x1F', upper: '0x1F', start: 10, end: 14 },
    ]);
    expect(texts('1.5e3, t.1, x$y')).toEqual(['1.5e3', ',', 't', '.', '1', ',', 'x$y']);
  });

  it.each([
    ['a -- b\nc', ['a', 'c']],
    ['a // b\nc', ['a', 'c']],
    ['a # b\nc', ['a', 'c']],
    ['a #! b\nc', ['a', 'c']],
    ['a #b', ['a', '#', 'b']],
    ['a /* b */ c', ['a', 'c']],
    ['a /* b /* c */ d */ e', ['a', 'e']],
    ['a /* -- */ b', ['a', 'b']],
    ['a -- /*\nb', ['a', 'b']],
    ['a --', ['a']],
  ])('leaves comments out: %j', (sql, expected) => {
    expect(texts(sql)).toEqual(expected);
  });

  it.each([
    "'a''b'",
    "'a\\'b'",
    "'a\\\\'",
    "'-- no comment ; '",
    "'‘'",
    "‘a'b’",
    "x'4A'",
    "B'01'",
    "$$a;'b$$",
    '$tag$ $$ $tag$',
  ])('takes %s for one string', (sql) => {
    expect(kinds(sql)).toEqual(['string']);
    expect(texts(sql)).toEqual([sql]);
  });

  it.each(['"a""b"', '`a``b`', '`a\\`b`', '“a"b”', '"a;b"'])('takes %s for one quoted identifier', (sql) => {
    expect(kinds(sql)).toEqual(['quotedIdentifier']);
  });

  it('knows no escapes in hex strings, as the engine does', () => {
    expect(texts("x'\\'; DROP")).toEqual(["x'\\'", ';', 'DROP']);
  });

  it.each(["'a", "'a\\'", '"a', '`a', '“a"', "x'41", '$a$ b', '/* a', '/* /* */', 'a\0b'])(
    'fails on %j',
    (sql) => {
      expect(() => [...sqlTokens(sql)]).toThrow(SqlTokenError);
    },
  );

  it('reads no further than asked', () => {
    const tokens = sqlTokens("INSERT INTO t FORMAT TSV 'not closed");
    for (let i = 0; i < 5; i++) expect(tokens.next().done).toBe(false);
  });
});
