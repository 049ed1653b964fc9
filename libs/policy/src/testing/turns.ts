import { expect } from 'vitest';
import type { Generator } from '../generation/generator.js';
import type { FinishedTurn, TurnRequest } from '../generation/turn.js';
import type { SequenceBatch } from '../packing/sequence-batch.js';

/** A turn of a fresh context, sampled from the whole distribution, unless the fields say otherwise. */
export function request(
  fields: Pick<TurnRequest, 'slot' | 'tokenIds' | 'maxNewTokens'> & Partial<TurnRequest>,
): TurnRequest {
  return { keptPrefixTokens: 0, temperature: 1, greedy: false, stopTokenIds: [], samplingSeed: 1, ...fields };
}

/** Steps until no turn is live. */
export async function finishAll(generator: Generator): Promise<FinishedTurn[]> {
  const finished: FinishedTurn[] = [];
  while (generator.numPending > 0) finished.push(...(await generator.step()));
  return finished;
}

export function makeBatch(sequences: readonly number[][]): SequenceBatch {
  const sequenceOffsets = new Int32Array(sequences.length + 1);
  sequences.forEach((sequence, s) => {
    sequenceOffsets[s + 1] = sequenceOffsets[s] + sequence.length;
  });
  return { tokenIds: Int32Array.from(sequences.flat()), sequenceOffsets };
}

export function expectClose(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance: number): void {
  expect(actual.length).toBe(expected.length);
  const worst = Array.from(actual).reduce((max, value, n) => Math.max(max, Math.abs(value - expected[n])), 0);
  expect(worst).toBeLessThan(tolerance);
}
