import { expect, it } from 'vitest';
import { TRACE_COLUMNS, type TokenTrace } from '../update/result/token-trace.js';
import { TokenDigest } from '../replay/token-digest.js';
import { tokenEvents } from './token-events.js';

const plan = { planId: '01936d00-0000-7000-8000-000000000001', updateNumber: 3 };

function traceOf(numTokens: number): TokenTrace {
  const column = <T>(of: { from: (numbers: number[]) => T }, shift: number): T =>
    of.from(Array.from({ length: numTokens }, (_, m) => m + shift));
  return {
    ...{
      optimizerSteps: column(Int32Array, 1),
      episodes: column(Int32Array, 2),
      steps: column(Int32Array, 3),
    },
    ...{
      positions: column(Int32Array, 4),
      clipped: new Uint8Array(numTokens),
      ratios: column(Float32Array, 5),
    },
    ...{ advantages: column(Float32Array, 6), values: column(Float32Array, 7), kls: column(Float32Array, 8) },
    entropies: column(Float32Array, 9),
    teacherLogprobs: column(Float32Array, 10),
    teacherTopIds: Int32Array.from({ length: 3 * numTokens }, (_, i) => i),
    teacherTopLogprobs: Float32Array.from({ length: 3 * numTokens }, (_, i) => -i),
  };
}

function payloadsOf(numTokens: number, maxTokens: number) {
  const events = tokenEvents({ epoch: 2, plan, tokenTrace: traceOf(numTokens) }, maxTokens * (41 + 3 * 8));
  return events.flatMap((event) => (event.kind === 'UpdateTokensTraced' ? [event.payload] : []));
}

it('token events: a trace longer than an event is cut into parts that together are the trace', () => {
  const payloads = payloadsOf(5, 2);
  expect(payloads.map(({ part, optimizerSteps }) => [part, ...optimizerSteps])).toEqual([
    [0, 1, 2],
    [1, 3, 4],
    [2, 5],
  ]);
  expect(payloads.map(({ teacherTopIds }) => teacherTopIds?.length)).toEqual([6, 6, 3]);
  const whole = traceOf(5);
  for (const name of TRACE_COLUMNS)
    expect(payloads.flatMap((payload) => [...(payload[name] ?? [])])).toEqual([...(whole[name] ?? [])]);
  const digest = new TokenDigest();
  for (const payload of payloads) digest.add(payload);
  expect(digest.value()).toBe(TokenDigest.of(whole));
  const other = { ...whole, ratios: whole.ratios.map((ratio, m) => (m === 4 ? ratio + 1 : ratio)) };
  expect(TokenDigest.of(other)).not.toBe(TokenDigest.of(whole));
});

it('token events: one without tokens where an update trained none, and none where nothing was recorded', () => {
  expect(payloadsOf(0, 2)).toMatchObject([{ part: 0, epoch: 2, ...plan, optimizerSteps: new Int32Array(0) }]);
  expect(tokenEvents({ epoch: 2, plan, tokenTrace: null })).toEqual([]);
});
