import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyEvent } from '../testing/any-event.js';
import { contentChecksum } from '../checksum/content-checksum.js';
import { EVENT_KINDS } from '../events/event-kinds.js';
import { sampleEvents } from '../testing/sample-events.js';
import { findEventProblem } from '../validation/validate-event.js';
import { decodeEvent, encodeEvent } from './index.js';

describe.each(EVENT_KINDS)('any %s', (kind) => {
  it('is equal after encoding and decoding, with an equal checksum', () => {
    fc.assert(
      fc.property(anyEvent(kind), (event) => {
        expect(findEventProblem(event)).toBeNull();
        const decoded = decodeEvent(encodeEvent(event));
        expect(decoded).toStrictEqual({ ok: true, event });
        expect(decoded.ok && contentChecksum(decoded.event)).toBe(contentChecksum(event));
      }),
      { numRuns: 60 },
    );
  });

  it('is a dead letter when up to four consecutive bytes are changed anywhere', () => {
    // A CRC-32 finds every burst of up to 32 bits.
    const damage = fc
      .uint8Array({ minLength: 1, maxLength: 4 })
      .filter((bits) => bits.some((byte) => byte > 0));
    fc.assert(
      fc.property(anyEvent(kind), fc.nat(), damage, (event, place, bits) => {
        const bytes = Buffer.from(encodeEvent(event));
        const at = place % (bytes.length - bits.length + 1);
        bits.forEach((byte, i) => (bytes[at + i] ^= byte));
        expect(decodeEvent(bytes).ok).toBe(false);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a record', () => {
  it.each(sampleEvents())('of a $kind is a dead letter whichever of its bytes is changed', (event) => {
    const bytes = Buffer.from(encodeEvent(event));
    for (let at = 0; at < bytes.length; at += 1) {
      const mask = 1 + ((at * 37) % 255);
      bytes[at] ^= mask;
      if (decodeEvent(bytes).ok) expect.unreachable(`byte ${at} of ${bytes.length} can be changed unnoticed`);
      bytes[at] ^= mask;
    }
    expect(decodeEvent(bytes).ok).toBe(true);
  });

  it.each(sampleEvents())(
    'of a $kind is a dead letter when bytes are missing or added at its end',
    (event) => {
      const bytes = encodeEvent(event);
      for (let length = 0; length < bytes.length; length += 1) {
        if (decodeEvent(bytes.subarray(0, length)).ok) expect.unreachable(`${length} bytes are enough`);
      }
      expect(decodeEvent(Buffer.concat([bytes, Buffer.alloc(1)])).ok).toBe(false);
    },
  );
});
