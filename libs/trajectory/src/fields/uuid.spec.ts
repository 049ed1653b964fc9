import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isUuid, uuidFromBytes, uuidToBytes, writeUuid } from './uuid.js';

/** The form as RFC 9562 has it, in lower case. */
const FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

describe('a UUID', () => {
  it('is known by its form, whatever one character is changed to', () => {
    const position = fc.nat(35);
    const unit = fc.oneof(
      fc.constantFrom('-', 'g', 'F', '/', ':', '`', '@', '\u0131', '０'),
      fc.string({ maxLength: 2 }),
    );
    fc.assert(
      fc.property(fc.uuid(), position, unit, (uuid, at, replacement) => {
        const changed = uuid.slice(0, at) + replacement + uuid.slice(at + 1);
        expect(isUuid(changed)).toBe(FORM.test(changed));
        expect(isUuid(uuid)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is written to its bytes and read from them', () => {
    for (let i = 0; i < 200; i += 1) {
      const uuid = randomUUID();
      const bytes = Buffer.alloc(20, 0xaa);
      writeUuid(bytes, 2, uuid);
      expect(bytes.toString('hex')).toBe(`aaaa${uuid.replaceAll('-', '')}aaaa`);
      expect(uuidToBytes(uuid).equals(bytes.subarray(2, 18))).toBe(true);
      expect(uuidFromBytes(bytes.subarray(2, 18))).toBe(uuid);
    }
  });
});
