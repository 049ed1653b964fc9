import { describe, expect, it } from 'vitest';
import { sampleEpisodeEvent, sampleEvents } from '../testing/index.js';
import { decodeEvent, encodeEvent, KnownEvents } from './index.js';

describe('KnownEvents', () => {
  it.each(sampleEvents())('gives a $kind back as decoding gives it, once', (event) => {
    const known = new KnownEvents();
    const bytes = encodeEvent(event);
    known.remember(event, bytes);
    // The log gives other bytes of the same content.
    const read = Buffer.from(bytes);
    expect({ ok: true, event: known.take(read) }).toStrictEqual(decodeEvent(read));
    expect(known.take(read)).toBeNull();
  });

  it('knows no record of other bytes, even with the same checksum', () => {
    const known = new KnownEvents();
    const event = sampleEpisodeEvent('StepRecorded');
    const bytes = encodeEvent(event);
    known.remember(event, bytes);
    const damaged = Buffer.from(bytes);
    damaged[damaged.length - 1] ^= 1;
    expect(known.take(damaged)).toBeNull();
    expect(known.take(Buffer.from('RTE'))).toBeNull();
    expect(known.take(bytes)).toBe(event);
  });

  it('forgets the oldest where many wait', () => {
    const known = new KnownEvents();
    const record = (seq: number) => {
      const event = { ...sampleEpisodeEvent('StepRecorded'), occurredAtUs: seq };
      return { event, bytes: encodeEvent(event) };
    };
    const records = Array.from({ length: 16_500 }, (_, seq) => record(seq));
    for (const { event, bytes } of records) known.remember(event, bytes);
    expect(known.take(records[0].bytes)).toBeNull();
    expect(known.take(records[16_499].bytes)).toBe(records[16_499].event);
  });
});
