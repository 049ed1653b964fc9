import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyMask, withoutKeys } from './key-mask.js';

const KEY = 'sk-sk-secret';

describe('KeyMask', () => {
  it('hides a key wherever the parts of an answer are cut, and changes nothing else', () => {
    const piece = fc.constantFrom('s', 'sk-', 'sk-sk-', KEY, 'secret', ' ', '{"a":', 'é');
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.nat(7)), (pieces, sizes) => {
        const bytes = Buffer.from(pieces.join(''));
        const mask = KeyMask.of(KEY)!;
        const shown: Buffer[] = [];
        let at = 0;
        for (const size of [...sizes, bytes.length]) {
          shown.push(mask.mask(Buffer.from(bytes.subarray(at, at + size))));
          at += size;
        }
        shown.push(mask.rest());
        expect(Buffer.concat(shown).toString()).toBe(
          bytes.toString().replaceAll(KEY, '*'.repeat(KEY.length)),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('passes bytes at once that can not be the beginning of the key', () => {
    expect(KeyMask.of(KEY)!.mask(Buffer.from('a whole event')).toString()).toBe('a whole event');
  });

  it('takes no text for a key that an answer may have as a word', () => {
    expect(KeyMask.of('EMPTY')).toBeNull();
    expect(withoutKeys(`EMPTY ${KEY}`, ['EMPTY', KEY])).toBe('EMPTY ************');
  });
});
