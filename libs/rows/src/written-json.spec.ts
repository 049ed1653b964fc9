import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson, writeJson } from './written-json.js';

describe('JSON as it was written', () => {
  it('keeps integers beyond 2^53, decimals, exponents and the order of keys of what is written again', () => {
    const given =
      '{"id": 12345678901234567890, "x": 3.0, "tiny": 1e-07, "1": [0.10, {"10": -0, "2": 9007199254740993}]}';
    const value = parseJson(`{"a": {"n": 1}, "call": ${given}}`) as {
      a: object;
      call: { id: unknown; x: number };
    };
    expect(writeJson(value.call)).toBe(given.replaceAll(' ', ''));
    expect(writeJson(value.a)).toBe('{"n":1}');
    // As a value, such an integer is the text of its digits; the nearest number would be another id.
    expect(value.call.id).toBe('12345678901234567890');
    expect(value.call.x).toBe(3);
  });

  it('leaves digits, quotes and white space in texts as they are', () => {
    const text = JSON.stringify({ a: 'x 12345678901234567890 " \\', 'k" 5': ['\\"', ' 1.0 '], n: 1.5 });
    expect(writeJson(parseJson(text.replace('1.5', '1.50')))).toBe(text.replace('1.5', '1.50'));
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  it.each(['', '{"a":}', '[1,]', '{12345678901234567: 1}', '[01234567890123456]', '[12345678901234567.]'])(
    'refuses %s',
    (text) => expect(() => parseJson(text)).toThrow(SyntaxError),
  );

  it('gives any value as JSON.parse does, and any JSON as it was written', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const written = `[3.0, ${text}]`;
        const parsed = parseJson(written) as [number, unknown];
        expect(parsed).toEqual(JSON.parse(written));
        expect(writeJson(parsed)).toBe(`[3.0,${JSON.stringify(value)}]`);
      }),
      { numRuns: 500 },
    );
  });

  it('reads values that are nested deeply', () => {
    const text = `${'['.repeat(2000)}1.0${']'.repeat(2000)}`;
    expect(JSON.stringify(parseJson(text))).toBe(text.replace('1.0', '1'));
  });
});
