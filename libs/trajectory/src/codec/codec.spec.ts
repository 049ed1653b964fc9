import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnyEvent } from '../events/event.js';
import { sampleControlEvent, sampleEpisodeEvent, sampleEvents, sampleStep } from '../testing/index.js';
import { frame } from './frame.js';
import { decodeEvent, encodeEvent } from './index.js';
import type { DecodedEvent } from './decode-event.js';
import { messagePack } from './body/messagepack.js';

const step = sampleEpisodeEvent('StepRecorded');

/** The parts of an encoded body, to be changed and framed again with a right checksum. */
function bodyOf(event: AnyEvent): unknown[] {
  return messagePack.unpack(Buffer.from(encodeEvent(event)).subarray(8)) as unknown[];
}

function decodeBody(parts: unknown): DecodedEvent {
  return decodeEvent(frame(messagePack.pack(parts)));
}

describe('encodeEvent and decodeEvent', () => {
  it.each(sampleEvents())('return an equal $kind', (event) => {
    expect(decodeEvent(encodeEvent(event))).toStrictEqual({ ok: true, event });
  });

  it('return equal steps with any tokens, texts and info', () => {
    const anyText = fc.string({ unit: 'grapheme' });
    const anyStep = fc
      .record({
        numTokens: fc.nat(200),
        actionFraction: fc.double({ min: 0, max: 1, noNaN: true }),
        observation: anyText,
        anchor: fc.option(anyText),
        reward: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)),
        info: fc
          .jsonValue({ noUnicodeString: false })
          .filter((value) => !JSON.stringify(value).includes('__proto__')),
      })
      .map(({ numTokens, actionFraction, info, ...rest }) =>
        sampleEpisodeEvent('StepRecorded', {
          ...sampleStep({ numTokens, numActionTokens: Math.floor(actionFraction * numTokens) }),
          ...rest,
          info: JSON.parse(JSON.stringify(info)) as never,
        }),
      );
    fc.assert(
      fc.property(anyStep, (event) => {
        expect(decodeEvent(encodeEvent(event))).toEqual({ ok: true, event });
      }),
    );
  });

  it('keep NaN, times beyond 32 bits and large seeds', () => {
    const event = sampleControlEvent('RunStarted', { seed: Number.MAX_SAFE_INTEGER });
    expect(decodeEvent(encodeEvent(event))).toStrictEqual({ ok: true, event });
    const metrics = decodeEvent(encodeEvent(sampleControlEvent('MetricsLogged')));
    expect(metrics.ok && metrics.event.kind === 'MetricsLogged' && metrics.event.payload.values[1]).toBeNaN();
  });

  it('give equal bytes for equal events', () => {
    expect(Buffer.compare(encodeEvent(step), encodeEvent(sampleEpisodeEvent('StepRecorded')))).toBe(0);
  });

  it('return events that share no memory with the record', () => {
    const bytes = encodeEvent(step);
    const decoded = decodeEvent(bytes);
    bytes.fill(0);
    expect(decoded).toStrictEqual({ ok: true, event: step });
  });

  it('refuse to encode an invalid event', () => {
    expect(() => encodeEvent(sampleEpisodeEvent('StepRecorded', { reward: NaN }))).toThrow(
      expect.objectContaining({ code: 'INVALID_EVENT' }) as Error,
    );
  });
});

describe('a record', () => {
  it('starts with the magic, the wire version and the CRC-32 of the body', () => {
    const bytes = Buffer.from(encodeEvent(step));
    expect(bytes.toString('latin1', 0, 3)).toBe('RTE');
    expect(bytes[3]).toBe(1);
    expect(bytes.readUInt32LE(4)).toBe(crc32(bytes.subarray(8)));
  });

  it.each<[string, Uint8Array, string]>([
    ['that is empty', new Uint8Array(0), 'NOT_AN_EVENT'],
    ['of another program', new TextEncoder().encode('{"kind": "StepRecorded"}'), 'NOT_AN_EVENT'],
    ['of a newer wire version', Buffer.from(encodeEvent(step)).fill(2, 3, 4), 'UNKNOWN_VERSION'],
    ['with a damaged byte', Buffer.from(encodeEvent(step)).fill(0x7f, 40, 41), 'CHECKSUM_MISMATCH'],
    ['that is cut short', encodeEvent(step).subarray(0, -1), 'CHECKSUM_MISMATCH'],
    ['whose body is no MessagePack', frame(Uint8Array.of(0xc1)), 'UNDECODABLE'],
    ['with something after the body', frame(Uint8Array.of(0x90, 0x90)), 'UNDECODABLE'],
  ])('%s is a dead letter', (_title, bytes, code) => {
    expect(decodeEvent(bytes)).toMatchObject({ ok: false, code, reason: expect.any(String) as string });
  });

  it.each<[string, (parts: unknown[]) => unknown, string, string]>([
    ['with too few parts', (parts) => parts.slice(1), 'UNDECODABLE', 'no array of 9 parts'],
    [
      'with an id of other than 16 bytes',
      (parts) => parts.with(4, Buffer.alloc(5)),
      'UNDECODABLE',
      'an id has 5 bytes',
    ],
    [
      'of a kind that is not known',
      (parts) => parts.with(0, 'StepForgotten'),
      'UNKNOWN_KIND',
      'StepForgotten',
    ],
    [
      'of a newer schema version',
      (parts) => parts.with(1, 5),
      'UNKNOWN_VERSION',
      'schema version of StepRecorded is 5',
    ],
    ['of schema version 0', (parts) => parts.with(1, 0), 'UNKNOWN_VERSION', 'knows 1 to 4'],
    ['with an id that is text', (parts) => parts.with(2, 'id'), 'UNDECODABLE', 'an id is not binary'],
    ['without a payload', (parts) => parts.with(8, null), 'UNDECODABLE', 'payload is no map'],
    [
      'with a column that is no column',
      (parts) => withField(parts, 'tokenIds', Buffer.alloc(3)),
      'UNDECODABLE',
      'column',
    ],
    ['with another event’s id', (parts) => parts.with(2, parts[3]), 'INVALID_EVENT', 'eventId'],
    [
      'with a field missing',
      (parts) => withField(parts, 'reward', undefined),
      'INVALID_EVENT',
      'reward is undefined',
    ],
    [
      'with a field too many',
      (parts) => withField(parts, 'colour', 1),
      'INVALID_EVENT',
      'colour is 1; must be absent',
    ],
    ['with an invalid value', (parts) => withField(parts, 'step', -1), 'INVALID_EVENT', 'step is -1'],
  ])('%s is a dead letter', (_title, change, code, reason) => {
    expect(decodeBody(change(bodyOf(step)))).toMatchObject({
      ok: false,
      code,
      reason: expect.stringContaining(reason) as string,
    });
  });

  it('of any bytes is a dead letter and never an exception', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(decodeEvent(bytes).ok).toBe(false);
        expect(decodeEvent(frame(bytes)).ok).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  it('with any part replaced is decoded to a valid event or a dead letter', () => {
    const anything = fc.anything({ withTypedArray: true, withDate: true, withMap: true, withBigInt: true });
    const fields = Object.keys(step.payload);
    fc.assert(
      fc.property(fc.nat(8 + fields.length), anything, (at, value) => {
        const parts = bodyOf(step);
        const changed = at < 9 ? parts.with(at, value) : withField(parts, fields[at - 9], value);
        let body: Buffer;
        try {
          body = messagePack.pack(changed);
        } catch {
          return; // No MessagePack for this value, so no record either.
        }
        expect(typeof decodeEvent(frame(body)).ok).toBe('boolean');
      }),
      // An object without a text of its own, as kind and as schema version.
      {
        numRuns: 2000,
        examples: [
          [0, { toString: 0 }],
          [1, { toString: 0 }],
        ],
      },
    );
  });

  it('with any byte of its body changed behind the checksum is decoded or a dead letter', () => {
    const body = Buffer.from(encodeEvent(step)).subarray(8);
    fc.assert(
      fc.property(fc.nat(body.length - 1), fc.nat(255), (at, byte) => {
        const damaged = Buffer.from(body);
        damaged[at] = byte;
        expect(typeof decodeEvent(frame(damaged)).ok).toBe('boolean');
      }),
      { numRuns: 3000 },
    );
  });
});

/** `undefined` takes the field out. */
function withField(parts: unknown[], field: string, value: unknown): unknown[] {
  const others = Object.entries(parts[8] as Record<string, unknown>).filter(([name]) => name !== field);
  return parts.with(8, Object.fromEntries(value === undefined ? others : [...others, [field, value]]));
}
