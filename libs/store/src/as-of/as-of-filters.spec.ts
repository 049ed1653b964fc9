import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filtersAsOf, isAsOf } from './as-of-filters.js';

describe('isAsOf', () => {
  it('is true for the filters of any time', () => {
    fc.assert(fc.property(fc.nat({ max: Number.MAX_SAFE_INTEGER }), (timeUs) => isAsOf(filtersAsOf(timeUs))));
  });

  it('is false for any other text, also one that differs in a character', () => {
    const filters = filtersAsOf(1_764_000_000_000_000);
    for (const other of [
      '',
      '{}',
      "{'events': 'file(\\'/etc/passwd\\') = 1'}",
      ` ${filters}`,
      filters.replace('<=', '>='),
    ])
      expect(isAsOf(other), other).toBe(false);
    fc.assert(
      fc.property(
        fc.nat({ max: filters.length - 1 }),
        fc.string({ minLength: 1, maxLength: 1 }),
        (at, character) => {
          const changed = filters.slice(0, at) + character + filters.slice(at + 1);
          // Digits of the time make another time, where all of them change.
          expect(isAsOf(changed)).toBe(changed === filters);
        },
      ),
    );
  });
});
