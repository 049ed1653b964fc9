import { TrajectoryError } from '../trajectory-error.js';
import type { EpisodeColumns } from './episode-columns.js';

/**
 * Checks that the columns fit together: lengths, offsets, step numbers 0, 1, 2 … and masks of 0 and 1.
 *
 * @throws TrajectoryError `INCONSISTENT_COLUMNS` naming the column, the value and the rule
 */
export function assertConsistentColumns(columns: EpisodeColumns): void {
  const numEpisodes = columns.episodeIds.length;
  const numSteps = columns.steps.length;
  const numTokens = columns.tokenIds.length;
  requireOffsets(columns, 'stepOffsets', numEpisodes, numSteps);
  requireOffsets(columns, 'tokenOffsets', numSteps, numTokens);
  requireOffsets(columns, 'finalTokenOffsets', numEpisodes, columns.finalTokenIds.length);
  requireLength(columns, EPISODE_COLUMNS, numEpisodes, 'episode');
  requireLength(columns, STEP_COLUMNS, numSteps, 'step');
  requireLength(columns, TOKEN_COLUMNS, numTokens, 'token');
  requireStepNumbers(columns);
  requireMask(columns.actionMask);
}

const EPISODE_COLUMNS = ['groupIds', 'endReasons', 'successes', 'finalKeptPrefixTokens'] as const;
const STEP_COLUMNS = [
  'rewards',
  'anchors',
  'actionValid',
  'keptPrefixTokens',
  'temperatures',
  'greedy',
] as const;
const TOKEN_COLUMNS = ['actionMask', 'tokenLogprobs', 'tokenPolicyVersions'] as const;

function requireLength(
  columns: EpisodeColumns,
  names: readonly (keyof EpisodeColumns)[],
  expected: number,
  level: string,
): void {
  for (const name of names) {
    const { length } = columns[name];
    if (length !== expected)
      throw inconsistent(`${name} has ${length} values; must have one per ${level}, ${expected}`);
  }
}

function requireOffsets(
  columns: EpisodeColumns,
  name: 'stepOffsets' | 'tokenOffsets' | 'finalTokenOffsets',
  numRows: number,
  numValues: number,
): void {
  const offsets = columns[name];
  if (offsets.length !== numRows + 1) {
    throw inconsistent(`${name} has ${offsets.length} values; must have rows + 1 = ${numRows + 1}`);
  }
  if (offsets[0] !== 0) throw inconsistent(`${name}[0] is ${offsets[0]}; must be 0`);
  for (let row = 0; row < numRows; row += 1) {
    if (offsets[row + 1] < offsets[row]) {
      throw inconsistent(
        `${name}[${row + 1}] is ${offsets[row + 1]}; must be ≥ the one before, ${offsets[row]}`,
      );
    }
  }
  if (offsets[numRows] !== numValues) {
    throw inconsistent(`${name} ends at ${offsets[numRows]}; must end at the number of values, ${numValues}`);
  }
}

function requireStepNumbers({ episodeIds, stepOffsets, steps }: EpisodeColumns): void {
  for (let episode = 0; episode < episodeIds.length; episode += 1) {
    for (let row = stepOffsets[episode]; row < stepOffsets[episode + 1]; row += 1) {
      const expected = row - stepOffsets[episode];
      if (steps[row] !== expected) {
        throw inconsistent(
          `step number in row ${row} (episode ${episodeIds[episode]}) is ${steps[row]}; must be ${expected}: ` +
            'the steps of an episode are complete and in order',
        );
      }
    }
  }
}

function requireMask(mask: Uint8Array): void {
  const at = mask.findIndex((value) => value > 1);
  if (at >= 0) throw inconsistent(`actionMask[${at}] is ${mask[at]}; must be 0 or 1`);
}

export function inconsistent(message: string): TrajectoryError {
  return new TrajectoryError('INCONSISTENT_COLUMNS', message);
}
