import { describe, expect, it } from 'vitest';
import { sampleEpisodeEvent, sampleEvents } from '../testing/sample-events.js';
import { frame } from './frame.js';
import { encodeEvent, peekEnvelope } from './index.js';
import { messagePack } from './body/messagepack.js';

describe('peekEnvelope', () => {
  it.each(sampleEvents())('reads the envelope of a $kind', (event) => {
    const { payload: _, ...envelope } = event;
    expect(peekEnvelope(encodeEvent(event))).toEqual(envelope);
  });

  it.each([0, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER])(
    'reads the number %i in whatever form MessagePack gives it',
    (seq) => {
      const event = sampleEpisodeEvent('RewardAssigned', {}, seq);
      expect(peekEnvelope(encodeEvent(event))).toMatchObject({ seq, occurredAtUs: event.occurredAtUs });
    },
  );

  it('reads a kind and a version that this code does not know', () => {
    const id = Buffer.alloc(16, 7);
    const body = ['A kind of later code, with a long name', 300, id, id, id, Buffer.alloc(0), 1, 2, { x: 1 }];
    expect(peekEnvelope(frame(messagePack.pack(body)))).toMatchObject({
      kind: body[0],
      schemaVersion: 300,
      runId: '07070707-0707-0707-0707-070707070707',
      episodeId: '',
    });
  });

  it('returns null for every record that was truncated or changed', () => {
    const bytes = encodeEvent(sampleEpisodeEvent('RewardAssigned'));
    for (let length = 0; length < bytes.length; length++) {
      expect(peekEnvelope(bytes.subarray(0, length)), `${length} bytes`).toBeNull();
    }
    for (let at = 0; at < bytes.length; at++) {
      const changed = Uint8Array.from(bytes);
      changed[at] ^= 1;
      expect(peekEnvelope(changed), `byte ${at}`).toBeNull();
    }
  });

  it('returns null for bodies of another form', () => {
    const id = Buffer.alloc(16);
    const bodies: unknown[] = [
      null,
      [],
      ['kind', 1, id, id, id, id, 0, 0],
      [1, 1, id, id, id, id, 0, 0, {}],
      ['kind', '1', id, id, id, id, 0, 0, {}],
      ['kind', 1, 'id', id, id, id, 0, 0, {}],
      ['kind', 1, id, id, id, Buffer.alloc(3), 0, 0, {}],
      ['kind', 1, id, id, id, id, -1, 0, {}],
    ];
    for (const body of bodies) expect(peekEnvelope(frame(messagePack.pack(body)))).toBeNull();
    const whole = messagePack.pack(['kind', 1, id, id, id, id, 0, 0, {}]);
    for (let length = 1; length < whole.length - 1; length++) {
      expect(peekEnvelope(frame(whole.subarray(0, length))), `${length} bytes`).toBeNull();
    }
  });
});
