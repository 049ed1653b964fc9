import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnyEvent, EpisodePlaces, EVENT_KINDS, uuidToBytes } from '@retrace/trajectory';
import {
  type TypedColumn,
  decodeEvent,
  encodeEvent,
  frame,
  FRAME_HEADER_BYTES,
  messagePack,
  packColumn,
  StepRecord,
} from '@retrace/trajectory/codec';
import { anyEvent, sampleEpisodeEvent, sampleEvents, sampleStep } from '@retrace/trajectory/testing';
import type { Admission } from '../admission/admission.js';
import { type EncodedRows, eventRow, EventRowsEncoder } from '../rows/event-rows.js';
import { PendingBatch } from './pending-batch.js';

const POSITION = { logId: sampleEvents()[0].logId, stream: 'trajectories', partition: 3 } as const;

/** Accepts every valid event, whatever records are before it. */
const ACCEPT_ALL: Admission = {
  maxEventBytes: Infinity,
  isDeleted: () => false,
  holdsEpoch: () => true,
  hasDeletedEpisode: () => false,
  findPlaces: () => new EpisodePlaces(),
  admitControl: () => 'accepted',
  learn: () => Promise.resolve(),
};

interface Outcome extends EncodedRows {
  readonly numDeadLetters: number;
}

function throughBatch(records: readonly Uint8Array[]): Outcome {
  const batch = new PendingBatch(POSITION, ACCEPT_ALL);
  records.forEach((bytes, offset) => batch.append({ offset, bytes }));
  return { ...batch.finish({ withWatermark: false }), numDeadLetters: batch.numDeadLetters };
}

/** By way of an event: what the full decoder makes of a record, and the row of that. */
function throughEvents(records: readonly Uint8Array[]): Outcome {
  const encoder = new EventRowsEncoder(POSITION);
  let numDeadLetters = 0;
  records.forEach((bytes, offset) => {
    const decoded = decodeEvent(bytes);
    if (decoded.ok) encoder.append(eventRow(offset, decoded.event));
    else {
      encoder.append({ offset, deadLetter: { code: decoded.code, reason: decoded.reason, bytes } });
      numDeadLetters++;
    }
  });
  return { ...encoder.finish(), numDeadLetters };
}

function expectSameRows(records: readonly Uint8Array[]): Outcome {
  const outcome = throughBatch(records);
  const expected = throughEvents(records);
  expect(outcome.numDeadLetters).toBe(expected.numDeadLetters);
  expect(outcome.columns).toEqual(expected.columns);
  expect(Buffer.compare(outcome.body, expected.body)).toBe(0);
  return outcome;
}

/** The record of a step whose payload is what this makes of a valid one's: fields in any order, of any value. */
function stepRecord(
  change: (payload: Record<string, unknown>) => Record<string, unknown>,
  { seq = 1, step = 0 } = {},
): Uint8Array {
  const event = sampleEpisodeEvent('StepRecorded', { ...sampleStep({ step }) }, seq);
  const payload = change({ ...event.payload });
  for (const [name, value] of Object.entries(payload))
    if (ArrayBuffer.isView(value) && !(value instanceof Buffer))
      payload[name] = packColumn(value as TypedColumn);
  return bodyOf(event, payload);
}

function bodyOf(event: AnyEvent, payload: unknown): Uint8Array {
  const { kind, schemaVersion, eventId, logId, runId, episodeId, seq, occurredAtUs } = event;
  const ids = [eventId, logId, runId, episodeId].map(uuidToBytes);
  return frame(messagePack.pack([kind, schemaVersion, ...ids, seq, occurredAtUs, payload]));
}

const good = stepRecord((payload) => payload);

describe('PendingBatch', () => {
  it.each(EVENT_KINDS)('writes the rows of the decoded events, for any %s', (kind) => {
    fc.assert(
      fc.property(fc.array(anyEvent(kind), { minLength: 1, maxLength: 4 }), (events) => {
        expect(expectSameRows(events.map(encodeEvent)).numDeadLetters).toBe(0);
      }),
      { numRuns: kind === 'StepRecorded' ? 60 : 5 },
    );
  });

  it('writes the same rows whatever the order of the fields of a step', () => {
    const shuffled = anyEvent('StepRecorded').chain((event) =>
      fc
        .shuffledSubarray(Object.keys(event.payload), { minLength: Object.keys(event.payload).length })
        .map((names) => ({
          ...event,
          payload: Object.fromEntries(
            names.map((name) => [name, event.payload[name as keyof typeof event.payload]]),
          ) as never,
        })),
    );
    fc.assert(
      fc.property(fc.array(shuffled, { minLength: 1, maxLength: 4 }), (events) => {
        expect(expectSameRows(events.map(encodeEvent)).numDeadLetters).toBe(0);
      }),
      { numRuns: 30 },
    );
  });

  it('writes the rows that the full decoder gives, for steps with changed bytes and a matching checksum', () => {
    const changes = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(anyEvent('StepRecorded'), changes, (event, bytes) => {
        const body = Buffer.from(encodeEvent(event).subarray(FRAME_HEADER_BYTES));
        for (const [place, bits] of bytes) body[place % body.length] ^= bits;
        expectSameRows([good, frame(body), good]);
      }),
      { numRuns: 200 },
    );
  });

  it('writes the rows that the full decoder gives, for a step with any one byte changed and a matching checksum', () => {
    const body = Buffer.from(good.subarray(FRAME_HEADER_BYTES));
    const records = Array.from(body, (_, at) => {
      const changed = Buffer.from(body);
      changed[at] ^= 1 + ((at * 37) % 255);
      return frame(changed);
    });
    const { numDeadLetters } = expectSameRows(records);
    // Most bytes are of text and of logprobs, which may be others.
    expect(numDeadLetters).toBeGreaterThan(100);
    expect(numDeadLetters).toBeLessThan(records.length);
  });

  it('writes the rows that the full decoder gives, for a step that is too short or too long', () => {
    const body = Buffer.from(good.subarray(FRAME_HEADER_BYTES));
    const records = Array.from(body, (_, length) => frame(body.subarray(0, length)));
    expectSameRows([...records, frame(Buffer.concat([body, Buffer.alloc(1)]))]);
  });
});

describe('PendingBatch, given a step', () => {
  const TOKENS = 26;
  const withAt = (column: TypedColumn, at: number, value: number): TypedColumn => {
    const changed = column.slice();
    changed[at] = value;
    return changed;
  };

  it.each<[string, (payload: Record<string, unknown>) => Record<string, unknown>]>([
    ['lacks a field', ({ anchor: _, ...rest }) => rest],
    ['has a field more', (payload) => ({ ...payload, more: 1 })],
    ['has another field in place of one', ({ anchor: _, ...rest }) => ({ ...rest, more: 1 })],
    ['has a text for a flag', (payload) => ({ ...payload, terminated: 'yes' })],
    ['has null for a text', (payload) => ({ ...payload, observation: null })],
    ['has a negative number of kept tokens', (payload) => ({ ...payload, keptPrefixTokens: -1 })],
    ['keeps tokens in step 0', (payload) => ({ ...payload, keptPrefixTokens: 1 })],
    ['has half a token kept', (payload) => ({ ...payload, keptPrefixTokens: 0.5 })],
    ['has an infinite reward', (payload) => ({ ...payload, reward: Infinity })],
    ['has another number than its seq says', (payload) => ({ ...payload, step: 3 })],
    ['has more names than rewards', (payload) => ({ ...payload, rewardNames: ['a', 'b', 'c'] })],
    [
      'has an infinite named reward',
      (payload) => ({ ...payload, rewardValues: Float64Array.of(0, Infinity) }),
    ],
    ['has an empty name', (payload) => ({ ...payload, rewardNames: ['a', ''] })],
    ['has info that is no JSON', (payload) => ({ ...payload, info: { x: NaN } })],
    ['has sampling without temperature', (payload) => ({ ...payload, sampling: { topK: 0 } })],
    ['has an unknown logprob mode', (payload) => ({ ...payload, logprobMode: 'cooked' })],
    ['has logprobs that its mode denies', (payload) => ({ ...payload, logprobMode: 'none' })],
    ['took less than no time', (payload) => ({ ...payload, generationMs: -1 })],
    [
      'has a negative token',
      (payload) => ({ ...payload, tokenIds: withAt(payload.tokenIds as TypedColumn, 3, -1) }),
    ],
    [
      'has a mask of 2',
      (payload) => ({ ...payload, actionMask: withAt(payload.actionMask as TypedColumn, 25, 2) }),
    ],
    [
      'has a mask that falls',
      (payload) => ({ ...payload, actionMask: withAt(payload.actionMask as TypedColumn, 25, 0) }),
    ],
    [
      'has a positive logprob',
      (payload) => ({ ...payload, tokenLogprobs: withAt(payload.tokenLogprobs as TypedColumn, 25, 1) }),
    ],
    ['has a shorter mask', (payload) => ({ ...payload, actionMask: new Uint8Array(TOKENS - 1) })],
    ['has floats for tokens', (payload) => ({ ...payload, tokenIds: new Float32Array(TOKENS) })],
    ['has doubles for logprobs', (payload) => ({ ...payload, tokenLogprobs: new Float64Array(TOKENS) })],
    ['has null for a mask', (payload) => ({ ...payload, actionMask: null })],
    ['has a text for tokens', (payload) => ({ ...payload, tokenIds: 'tokens' })],
    ['has bytes that are no column', (payload) => ({ ...payload, tokenIds: Buffer.of(9, 9, 9, 9, 9) })],
    [
      'has a policy version of −2',
      (payload) => ({ ...payload, tokenPolicyVersions: new Int32Array(TOKENS).fill(-2) }),
    ],
  ])('makes a dead letter of one that %s, and keeps the rest of its batch', (_title, change) => {
    const bad = stepRecord(change);
    expect(expectSameRows([good, bad, good]).numDeadLetters).toBe(1);
  });

  it.each<[string, (payload: Record<string, unknown>) => Record<string, unknown>]>([
    ['nothing sampled', (payload) => ({ ...payload, sampling: null })],
    ['no tokens', (payload) => ({ ...payload, ...columnsOf(0) })],
    [
      'long text that is not ASCII',
      (payload) => ({ ...payload, observation: 'ü€😀'.repeat(300), action: '\uFEFF' }),
    ],
    [
      'a text that begins with a byte order mark',
      (payload) => ({ ...payload, observation: `\uFEFF${'x'.repeat(100)}` }),
    ],
    ['info that is null', (payload) => ({ ...payload, info: null })],
    ['info that is nested', (payload) => ({ ...payload, info: [1, 'a', { b: [null, true, -1.5] }] })],
    [
      'everything nullable null',
      (payload) => ({
        ...payload,
        anchor: null,
        parsedAction: null,
        snapshot: null,
        reward: null,
        tokenRawLogprobs: null,
        tokenEntropies: null,
      }),
    ],
    ['a negative zero', (payload) => ({ ...payload, reward: -0 })],
    ['labels that are empty', (payload) => ({ ...payload, engine: '', model: '', tokenizerHash: '' })],
  ])('writes the row of its event for one with %s', (_title, change) => {
    const record = stepRecord(change);
    expect(expectSameRows([record, good, record, record]).numDeadLetters).toBe(0);
  });

  it('writes the row that the full decoder gives, for text that is not UTF-8', () => {
    const body = Buffer.from(
      stepRecord((payload) => ({ ...payload, observation: 'wwwwwwww' })).subarray(FRAME_HEADER_BYTES),
    );
    body.fill(0xff, body.indexOf('wwww'), body.indexOf('wwww') + 2);
    expectSameRows([frame(body)]);
  });

  it('writes the row that the full decoder gives, for a step that has a field twice', () => {
    const body = Buffer.from(
      stepRecord(({ anchor: _, ...rest }) => ({ ...rest, ancher: 'x' })).subarray(FRAME_HEADER_BYTES),
    );
    body.write('action', body.indexOf('ancher'), 'latin1');
    expectSameRows([frame(body)]);
  });

  it('reads a valid one without the full decoder', () => {
    const step = new StepRecord();
    fc.assert(
      fc.property(anyEvent('StepRecorded'), (event) => {
        expect(step.read(encodeEvent(event))).toBe(true);
        expect(new EventRowsEncoder(POSITION).appendStep(0, step, new EpisodePlaces())).toEqual({
          kind: 'written',
        });
      }),
      { numRuns: 30 },
    );
    for (const event of sampleEvents().filter(({ kind }) => kind !== 'StepRecorded'))
      expect(step.read(encodeEvent(event))).toBe(false);
  });

  it('reads one of schema version 3 in place too, with the row of the lifted event', () => {
    const earlier = readFileSync(
      new URL('../../../../test/golden/events/StepRecorded.v3.bin', import.meta.url),
    );
    expect(new StepRecord().read(earlier)).toBe(true);
    expect(expectSameRows([good, earlier, good, earlier]).numDeadLetters).toBe(0);
    const { tokenRoutedExperts } = sampleStep();
    const withField = stepRecord((payload) => ({ ...payload, tokenRoutedExperts }));
    const mixed = Buffer.from(withField.subarray(FRAME_HEADER_BYTES));
    mixed[mixed.indexOf('StepRecorded') + 'StepRecorded'.length] = 3;
    expect(new StepRecord().read(frame(mixed))).toBe(false);
    expectSameRows([frame(mixed)]);
  });

  it('makes a dead letter of one with the id of another', () => {
    const event = sampleEpisodeEvent('StepRecorded', sampleStep(), 1);
    const other = sampleEpisodeEvent('StepRecorded', sampleStep({ step: 1 }), 2);
    const record = frame(
      Buffer.from(encodeEvent(event).subarray(FRAME_HEADER_BYTES)).fill(uuidToBytes(other.eventId), 16, 32),
    );
    expect(expectSameRows([record]).numDeadLetters).toBe(1);
  });

  function columnsOf(numTokens: number): Record<string, TypedColumn | null> {
    const { tokenIds, actionMask, tokenLogprobs, tokenPolicyVersions } = sampleStep({
      numTokens,
      numActionTokens: 0,
    });
    return {
      tokenIds,
      actionMask,
      tokenLogprobs,
      tokenPolicyVersions,
      tokenRawLogprobs: null,
      tokenEntropies: null,
      tokenRoutedExperts: null,
    };
  }
});
