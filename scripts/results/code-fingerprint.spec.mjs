import { describe, expect, it } from 'vitest';
import { codeFingerprint } from './code-fingerprint.mjs';

const of = (text) => codeFingerprint(text, 'a.ts');

describe('the fingerprint of code', () => {
  it('ignores comments, white space, imports, re-exports and declared types', () => {
    const before = `
      import { b } from './b.js';
      export * from './c.js';
      interface Pair { x: number }
      /** Doubles. */
      export function double(x: number) { return b * x; } // twice`;
    const after = `
      import type { Pair } from '../elsewhere.js';
      import { b } from '@retrace/b';
      type Triple = [number, number, number];
      /**
       * Twice as much.
       */
      export function double(x: number) {
        return b * x;
      }`;
    expect(of(after)).toBe(of(before));
  });

  it.each([
    ['an operator', 'f(a + b)', 'f(a - b)'],
    ['a string that holds a comment', "f('/* a */')", "f('/* b */')"],
    ['a template', 'f(`a ${b} // c`)', 'f(`a ${b} // d`)'],
    ['a regular expression that holds a quote', "f(/'\\//, 1)", "f(/'\\//, 2)"],
    ['a default of a parameter', 'function f(x = 1) {}', 'function f(x = 2) {}'],
    ['a local export', 'const a = 1; export { a };', 'const a = 1;'],
    ['a dynamic import', "await import('./a.js')", "await import('./b.js')"],
  ])('changes with %s', (_, before, after) => {
    expect(of(after)).not.toBe(of(before));
  });

  it('is the whole text where the language is not JavaScript', () => {
    expect(codeFingerprint('-- a\nSELECT 1', '1.sql')).toBe('-- a\nSELECT 1');
  });
});
