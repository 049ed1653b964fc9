import type { RecordFault, WireRecord } from '@retrace/recording';
import { describe, expect, it } from 'vitest';
import type { CurrentReward } from './changed-rewards.js';
import type { Found } from './import-rows.js';
import { EpisodeWriter, type Refusal, type RowOutcome, type WriteOptions } from './write-episodes.js';

/** Refuses batches with a step whose action is "bad", as a server with a rule that the importer does not know. */
class StrictSink {
  readonly records: WireRecord[] = [];

  append(records: readonly WireRecord[]): Promise<{ accepted: number; duplicates: number }> {
    const index = records.findIndex((record) => record.type === 'step' && record.action === 'bad');
    if (index >= 0) return Promise.reject(new StrictError({ ...FAULT, index }));
    this.records.push(...records);
    return Promise.resolve({ accepted: records.length, duplicates: 0 });
  }

  refusalOf(error: unknown): Refusal | null {
    return error instanceof StrictError ? { message: error.message, fault: error.fault } : null;
  }
}

const FAULT: RecordFault = { index: 0, field: 'action', value: 'bad', rule: 'must not be bad' };

class StrictError extends Error {
  constructor(readonly fault: RecordFault) {
    super('refused');
  }
}

const step = (episode: string, n: number, action: string) =>
  ({ type: 'step', episode, step: n, action }) as unknown as WireRecord;

/** Three episodes of two steps, whose middle one has a step that is refused. */
async function* found(): AsyncIterable<Found> {
  for (const [row, episode] of ['a', 'b', 'c'].entries()) {
    await Promise.resolve();
    const records = [step(episode, 0, 'good'), step(episode, 1, row === 1 ? 'bad' : 'good')];
    yield { kind: 'episode', file: 'rows.jsonl', row, records } as unknown as Found;
  }
}

async function write(options: WriteOptions) {
  const sink = new StrictSink();
  const outcomes: RowOutcome[] = [];
  const onRow = (outcome: RowOutcome) => void outcomes.push(outcome);
  const counts = await new EpisodeWriter(sink, { ...options, onRow }).write(found());
  return { counts, outcomes, steps: sink.records.map((record) => record as unknown as { action?: string }) };
}

describe('an episode of very many turns', () => {
  it('is written in parts that a recorder takes, and a refusal names its record', async () => {
    const NUM_STEPS = 12_000;
    const sizes: number[] = [];
    const sink = new StrictSink();
    const append = sink.append.bind(sink);
    sink.append = (records) => {
      sizes.push(records.length);
      return append(records);
    };
    const records = Array.from({ length: NUM_STEPS }, (_, n) =>
      step('long', n, n === 11_000 ? 'bad' : 'good'),
    );
    async function* one(): AsyncIterable<Found> {
      yield await Promise.resolve({ kind: 'episode', file: 'f', row: 1, records } as unknown as Found);
    }
    const refused: number[] = [];
    const poorer = (record: WireRecord) => {
      if (record.type === 'step') refused.push(record.step);
      return { ...record, action: '' } as unknown as WireRecord;
    };
    const counts = await new EpisodeWriter(sink, { poorer }).write(one());
    expect(counts).toMatchObject({ numEpisodes: 1, numSteps: NUM_STEPS, skipped: [] });
    expect(refused).toEqual([11_000]);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(10_000);
  });
});

describe('an imported record that is refused', () => {
  it('is written poorer in its place, and its episode is taken whole', async () => {
    const faults: RecordFault[] = [];
    const { counts, outcomes, steps } = await write({
      poorer: (record, fault) => {
        faults.push(fault);
        return { ...record, action: '' } as unknown as WireRecord;
      },
    });
    expect(faults).toEqual([{ ...FAULT, index: 1 }]);
    expect(counts).toMatchObject({ numEpisodes: 3, numSteps: 6, numPoorerEpisodes: 1, skipped: [] });
    expect(steps.map(({ action }) => action)).toEqual(['good', 'good', 'good', '', 'good', 'good']);
    expect(outcomes[1]).toMatchObject({ episode: 'b', changes: ['action: refused, as it must not be bad'] });
  });

  it.each([
    ['nothing makes records poorer', {}],
    ['no poorer record helps', { poorer: () => null }],
  ])('costs its episode, and no other, where %s', async (_, options) => {
    const { counts } = await write(options);
    expect(counts).toMatchObject({ numEpisodes: 2, numPoorerEpisodes: 0 });
    expect(counts.skipped).toMatchObject([{ code: 'REFUSED', count: 1, example: { row: 1 } }]);
  });
});

describe('a score that is imported again', () => {
  /** Takes records by their ids as the recorder does: the same one is known, another one of the same id is refused. */
  class RewardSink extends StrictSink {
    private readonly byId = new Map<string, string>();
    numAppends = 0;

    override append(records: readonly WireRecord[]) {
      this.numAppends += 1;
      const key = (record: WireRecord) => ('id' in record ? `${record.id}` : JSON.stringify(record));
      const texts = records.map((record) => [key(record), JSON.stringify(record)] as const);
      if (texts.some(([id, text]) => (this.byId.get(id) ?? text) !== text)) {
        return Promise.reject(new StrictError(FAULT));
      }
      const added = records.filter((record) => !this.byId.has(key(record)));
      for (const [id, text] of texts) this.byId.set(id, text);
      this.records.push(...added);
      return Promise.resolve({ accepted: records.length, duplicates: records.length - added.length });
    }

    override refusalOf(error: unknown): Refusal | null {
      return error instanceof StrictError ? { message: error.message, fault: null } : null;
    }

    numStepsOf = () => Promise.resolve(1);

    currentRewards = (): Promise<CurrentReward[]> => Promise.resolve([...this.current().values()]);

    /** The newest reward of each name. */
    current() {
      const rewards = this.records.filter((record) => record.type === 'reward');
      return new Map(
        rewards.map(({ episode, name, value }) => [
          name,
          { episode, step: null, name, value, source: 'api', rationale: '' },
        ]),
      );
    }
  }

  it('has the value of the newest import, also where it changed back; importing that again adds nothing', async () => {
    const sink = new RewardSink();
    const reward = (id: string, value: number, name = id) =>
      ({ type: 'reward', id, episode: 't', name, value, source: 'api' }) as const;
    const numAdded: number[] = [];
    for (const value of [0, 1, 1, 0, 0, 1, 1]) {
      async function* trace(): AsyncIterable<Found> {
        // Two scores of one name: the last counts.
        const scores = [reward('ok', value), reward('first', 7, 'twice'), reward('last', 8, 'twice')];
        const records = [step('t', 0, 'good'), ...scores];
        yield await Promise.resolve({ kind: 'episode', file: 'f', row: 1, records } as unknown as Found);
      }
      const before = sink.records.length;
      expect(await new EpisodeWriter(sink).write(trace())).toMatchObject({ skipped: [] });
      numAdded.push(sink.records.length - before);
      expect([...sink.current()].map(([name, { value: counts }]) => [name, counts])).toEqual([
        ['ok', value],
        ['twice', 8],
      ]);
    }
    expect(numAdded).toEqual([4, 1, 0, 1, 0, 1, 0]);
  });

  /** As a recorder hides numbers in tags by rules of redaction. */
  const hide = (record: WireRecord): WireRecord =>
    'tags' in record ? { ...record, tags: record.tags?.map((tag) => tag.replace(/\d+/, '#')) } : record;

  /** Refuses another start of an episode that it has. */
  class NotingSink extends RewardSink {
    readonly asStored = hide;

    override append(records: readonly WireRecord[]) {
      const stored = records.map(hide);
      const starts = [...this.records, ...stored].filter(({ type }) => type === 'episode');
      const isOther = starts.some((start) => JSON.stringify(start) !== JSON.stringify(starts[0]));
      return isOther ? Promise.reject(new StrictError(FAULT)) : super.append(stored);
    }

    importedNotes = () => Promise.resolve([{ episode: 't', tags: this.tags(), metadata: null }]);

    /** Those that were given last. */
    tags(): readonly string[] {
      return this.records.flatMap((record) => ('tags' in record ? [record.tags ?? []] : [])).at(-1) ?? [];
    }
  }

  it('has the tags of the last row of the newest import, also where they changed back; importing that again adds nothing', async () => {
    const sink = new NotingSink();
    const numAdded: number[] = [];
    for (const rows of [['a7'], ['b'], ['b'], ['a7'], ['a7'], ['a7', 'b'], ['a7', 'b']]) {
      async function* trace(): AsyncIterable<Found> {
        for (const tag of rows) {
          const records = [{ type: 'episode', episode: 't', tags: [tag] }, step('t', 0, 'good')];
          yield await Promise.resolve({ kind: 'episode', file: 'f', row: 1, records } as unknown as Found);
        }
      }
      const before = sink.records.length;
      expect(await new EpisodeWriter(sink).write(trace())).toMatchObject({ skipped: [] });
      numAdded.push(sink.records.length - before);
      expect(sink.tags()).toEqual([rows.at(-1)?.replace('7', '#')]);
    }
    expect(numAdded).toEqual([2, 1, 0, 1, 0, 1, 0]);
  });

  it('costs no append of its own: a trace of 5,000 scores that all changed is written in few', async () => {
    const sink = new RewardSink();
    const write = (value: number) => {
      async function* trace(): AsyncIterable<Found> {
        const scores = Array.from({ length: 5000 }, (_, n) => {
          return { type: 'reward', id: `s${n}`, episode: 't', name: `${n}`, value, source: 'api' } as const;
        });
        const records = [step('t', 0, 'good'), ...scores];
        yield await Promise.resolve({ kind: 'episode', file: 'f', row: 1, records } as unknown as Found);
      }
      return new EpisodeWriter(sink).write(trace());
    };
    await write(0);
    sink.numAppends = 0;
    await write(1);
    expect([...sink.current().values()].every(({ value }) => value === 1)).toBe(true);
    expect(sink.numAppends).toBeLessThan(10);
  });
});
