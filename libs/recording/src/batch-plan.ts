import { setImmediate } from 'node:timers/promises';
import { type BatchContext, placeRecord } from './episode/place-record.js';
import type { EpisodeProgress } from './episode/episode-progress.js';
import type { LaneWork } from './partition/partition-lane.js';
import type { WireRecord } from './wire/wire-records.js';

/** A batch whose records all have their places: what is to be appended to each partition. */
export interface BatchPlan {
  readonly works: ReadonlyMap<number, LaneWork>;
  readonly numDuplicates: number;
}

/** Other requests get a turn after so long. */
const SLICE_MS = 15;

/**
 * Gives each record of a batch its place, in order. When one is refused, all that came before it are taken back.
 *
 * @param states the state of each record's episode, pinned
 * @throws PlaceRefusal; RecordingError `INVALID_RECORDS`
 */
export async function planBatch(
  records: readonly WireRecord[],
  states: readonly EpisodeProgress[],
  context: BatchContext,
): Promise<BatchPlan> {
  const works = new Map<number, { readonly records: Uint8Array[]; readonly states: Set<EpisodeProgress> }>();
  const undos: (() => void)[] = [];
  let sliceEndMs = performance.now() + SLICE_MS;
  try {
    for (let i = 0; i < records.length; i++) {
      const state = states[i];
      const work = works.get(state.partition) ?? { records: [], states: new Set<EpisodeProgress>() };
      works.set(state.partition, work);
      work.states.add(state);
      const placed = placeRecord(records[i], state, context, i);
      if (placed.kind === 'new') {
        work.records.push(placed.bytes);
        undos.push(placed.undo);
      }
      if (performance.now() > sliceEndMs) {
        await setImmediate();
        sliceEndMs = performance.now() + SLICE_MS;
      }
    }
  } catch (error) {
    for (const undo of undos.reverse()) undo();
    throw error;
  }
  return {
    works: new Map([...works].map(([partition, work]) => [partition, { ...work, states: [...work.states] }])),
    numDuplicates: records.length - undos.length,
  };
}
