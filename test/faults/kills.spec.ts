import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FaultBench } from '../support/fault-bench.mjs';
import {
  countInsertPoints,
  countMergePoints,
  countSinkPoints,
  killSink,
  killStoreInInsert,
  killStoreInMerge,
  sampleEvenly,
  type KillOutcome,
  type KillPoint,
} from '../support/kill-points.mjs';
import { whyNoStrace } from '../support/strace.mjs';

/** Points of each kind that are tested here; `npm run test:long -- faults` tests every point. */
const NUM_POINTS = 3;
const reason = whyNoStrace();
const TITLE = 'killed at a commit point';

describe.skipIf(reason !== null)(reason === null ? TITLE : `${TITLE} (skipped, because ${reason})`, () => {
  let bench: FaultBench;

  beforeAll(async () => {
    bench = await FaultBench.open();
    await bench.startSink();
  });
  afterAll(() => bench.close());

  /** Kills at some of the points, one after another on one store, and expects that each audit finds no fault. */
  async function killAtSome(
    points: readonly KillPoint[],
    kill: (bench: FaultBench, point: KillPoint) => Promise<KillOutcome>,
  ): Promise<void> {
    const outcomes: KillOutcome[] = [];
    for (const point of sampleEvenly(points, NUM_POINTS)) {
      const outcome = await kill(bench, point);
      expect({ ...outcome, faults: outcome.audit.faults }).toMatchObject({ faults: [] });
      outcomes.push(outcome);
    }
    // Threads share the work differently each time, so a late point may not be reached; most are.
    const numHit = outcomes.filter(({ hit }) => hit !== '').length;
    expect(numHit).toBeGreaterThan(outcomes.length / 2);
    expect(new Set(bench.acknowledged).size).toBe(outcomes.at(-1)!.audit.numEvents);
  }

  it('store killed during an insert: has every event exactly once after a restart', async () => {
    const points = await countInsertPoints(bench);
    expect(points.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['mkdir', 'write', 'fdatasync', 'rename', 'unlink']),
    );
    // Always includes the call that makes the part visible.
    await killAtSome([{ name: 'rename', nth: 1 }], killStoreInInsert);
    await killAtSome(points, killStoreInInsert);
  }, 240_000);

  it('store killed during a merge: has every event exactly once after a restart and after the next merge', async () => {
    const points = await countMergePoints(bench);
    await killAtSome([{ name: 'rename', nth: 1 }], killStoreInMerge);
    await killAtSome(points, killStoreInMerge);
  }, 240_000);

  it('sink killed at a cursor commit or during a request: another sink continues from the position in the store', async () => {
    const points = await countSinkPoints(bench);
    expect(points.length).toBeGreaterThan(5);
    await killAtSome(points, killSink);
  }, 240_000);
});
