import { describe, expect, it } from 'vitest';
import { integerAtLeast, listOf, nullable, objectOf, text } from './field.js';

describe('a field with a version', () => {
  it('is a field of a kind, and no member of an object', () => {
    expect(() => objectOf({ id: text, size: integerAtLeast(0).since(2, 0) })).toThrow(
      "field size of an object can't have since(2); must be a field of the kind itself",
    );
    expect(() => objectOf({ note: nullable(text.sinceAndStated(3, '')) })).toThrow(/field note .*since\(3\)/);
  });

  it('is no element of a list', () => {
    expect(() => listOf(text.since(2, ''))).toThrow("an element of a list can't have since(2)");
  });
});
