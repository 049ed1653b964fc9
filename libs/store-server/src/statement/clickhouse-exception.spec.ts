import { describe, expect, it } from 'vitest';
import { ClickHouseException } from './clickhouse-exception.js';

describe('ClickHouseException', () => {
  it('has the same text as on a server', () => {
    const exception = ClickHouseException.of('AUTHENTICATION_FAILED', 'me: no');
    expect(exception.message).toBe('Code: 516. DB::Exception: me: no. (AUTHENTICATION_FAILED)');
    expect([exception.exceptionCode, exception.httpStatus]).toEqual([516, 403]);
  });

  it.each([
    [
      'Code: 60. DB::Exception: No t. (UNKNOWN_TABLE)',
      60,
      'UNKNOWN_TABLE',
      404,
      'Code: 60. DB::Exception: No t. (UNKNOWN_TABLE)',
    ],
    [
      "Code: 115. DB::Exception: Code: 115. DB::Exception: Unknown setting 'x'. (UNKNOWN_SETTING) (version 26.7.2.1). (UNKNOWN_SETTING)",
      115,
      'UNKNOWN_SETTING',
      404,
      "Code: 115. DB::Exception: Unknown setting 'x'. (UNKNOWN_SETTING)",
    ],
    [
      'Code: 164. DB::Exception: No. (READONLY)',
      164,
      'READONLY',
      500,
      'Code: 164. DB::Exception: No. (READONLY)',
    ],
    [
      'something else',
      1002,
      'UNKNOWN_EXCEPTION',
      500,
      'Code: 1002. DB::Exception: something else. (UNKNOWN_EXCEPTION)',
    ],
  ])('of the engine: %s', (text, code, name, status, message) => {
    const exception = ClickHouseException.fromEngine(new Error(text));
    expect([
      exception.exceptionCode,
      exception.exceptionName,
      exception.httpStatus,
      exception.message,
    ]).toEqual([code, name, status, message]);
  });

  it('omits hidden texts', () => {
    const error = new Error(
      "Code: 62. DB::Exception: Syntax error at x\nINTO OUTFILE 'pipe'. (SYNTAX_ERROR)",
    );
    expect(ClickHouseException.fromEngine(error, ["\nINTO OUTFILE 'pipe'"]).message).toBe(
      'Code: 62. DB::Exception: Syntax error at x. (SYNTAX_ERROR)',
    );
  });
});
