import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunRecord } from '../wire/records.js';
import { poorerRecord, storableRecord } from './storable-record.js';

/** A record that the client of every language must make storable in this way. */
interface Vector {
  readonly name: string;
  readonly record: unknown;
  readonly stored: unknown;
  readonly changes: readonly string[];
}

const vectors = JSON.parse(
  readFileSync(new URL('../../../vectors/storable-records.json', import.meta.url), 'utf8'),
) as readonly Vector[];

/** A value of a vector, in which long texts, lists and nestings are written short, as the README there says. */
function written(value: unknown): unknown {
  if (Array.isArray(value)) return (value as readonly unknown[]).map(written);
  if (typeof value !== 'object' || value === null) return value;
  const {
    $text,
    $list,
    $times = 0,
    $number,
    $nested,
    $inner = 1,
    $concat,
  } = value as Readonly<{
    $text?: string;
    $list?: unknown;
    $times?: number;
    $number?: string;
    $nested?: number;
    $inner?: unknown;
    $concat?: readonly unknown[];
  }>;
  if ($text !== undefined) return $text.repeat($times);
  if ($list !== undefined) return Array.from({ length: $times }, () => written($list));
  if ($number !== undefined) return Number($number);
  if ($concat !== undefined) return $concat.map(written).join('');
  if ($nested !== undefined)
    return Array.from({ length: $nested }).reduce<unknown>((inner) => ({ a: inner }), $inner);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, written(item)]));
}

const anything = fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true });
const fields = fc.record(
  {
    ...{ observation: anything, action: anything, info: anything, messages: anything, tokens: anything },
    ...{ usage: anything, sampling: anything, rewards: anything, occurredAt: anything, other: anything },
  },
  { requiredKeys: [] },
);

describe('storableRecord', () => {
  it.each(vectors)('does what other clients do: $name', ({ record, stored, changes }) => {
    const made = storableRecord(written(record) as RunRecord);
    expect(made.changes).toEqual(changes);
    // As texts, since a difference in a text of megabytes takes minutes to show.
    expect(JSON.stringify(made.content) === JSON.stringify(written(stored))).toBe(true);
  });

  it('makes a step of anything in its fields, which stays equal when it is made storable again', () => {
    fc.assert(
      fc.property(fields, (given) => {
        const record = { type: 'step', episode: 'e', step: 3, ...given } as unknown as RunRecord;
        const { content, changes } = storableRecord(record);
        expect(content).toMatchObject({ type: 'step', episode: 'e', step: 3 });
        const sent = JSON.parse(JSON.stringify(content)) as RunRecord;
        expect(storableRecord(sent)).toEqual({ content: sent, changes: [] });
        expect('untrainable' in sent).toBe(changes.length > 0);
      }),
      { numRuns: 500 },
    );
  });

  it('writes what JSON has no form for: a value inside itself, what can not be read, functions, dates, large integers', () => {
    const cycle: Record<string, unknown> = { date: new Date(0), large: 2n ** 70n, small: 5n, run: () => 1 };
    cycle.self = cycle;
    Object.defineProperty(cycle, 'broken', {
      enumerable: true,
      configurable: true,
      get: () => {
        throw new Error('no');
      },
    });
    const record = { type: 'step', episode: 'e', step: 0, info: { ok: 1, cycle } } as unknown as RunRecord;
    expect(storableRecord(record).content).toMatchObject({
      info: { ok: 1, cycle: '[left out: what could not be read]' },
    });
    delete cycle.broken;
    expect(storableRecord(record).content).toMatchObject({
      info: {
        ok: 1,
        cycle: {
          date: '1970-01-01T00:00:00.000Z',
          large: '1180591620717411303424',
          small: 5,
          self: '[left out: a value inside itself]',
        },
      },
    });
  });

  it('goes without the experts where a server does not know them, and only then without tokens', () => {
    const tokens = { ids: [1], mask: [1] as const, logprobs: [-1] };
    const record: RunRecord = {
      type: 'step',
      episode: 'e',
      step: 0,
      tokens: { ...tokens, routedExperts: [3] },
    };
    const fault = { field: 'tokens.routedExperts', reason: 'no such field' };
    const poorer = poorerRecord(record, fault);
    expect(poorer).toEqual({ type: 'step', episode: 'e', step: 0, tokens });
    expect(poorerRecord(poorer!, fault)).toMatchObject({
      tokens: { ids: [] },
      untrainable: expect.any(String) as string,
    });
  });
});
