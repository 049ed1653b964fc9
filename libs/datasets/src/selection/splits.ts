import { hash } from 'node:crypto';
import { DatasetError } from '../dataset-error.js';
import type { EpisodeFacts } from '../stored-episode.js';

/** Shares of the splits by name, in order; they add up to 1. */
export type SplitShares = Readonly<Record<string, number>>;

const SHARE_TOLERANCE = 1e-9;

/**
 * Parses shares such as `train=0.9,test=0.1`.
 *
 * @throws DatasetError `OPTION_INVALID`
 */
export function parseSplitShares(text: string): SplitShares {
  const entries = text.split(',').map((part) => {
    const [, name, share] = /^\s*([a-z][a-z0-9_]{0,63})\s*=\s*(\d*\.?\d+)\s*$/.exec(part) ?? [];
    if (name === undefined || !(Number(share) > 0))
      throw new DatasetError(
        'OPTION_INVALID',
        `split is "${text}"; must be names with shares above 0, such as train=0.9,test=0.1`,
      );
    return [name, Number(share)] as const;
  });
  const shares = Object.fromEntries(entries);
  const sum = entries.reduce((total, [, share]) => total + share, 0);
  if (Object.keys(shares).length < entries.length)
    throw new DatasetError('OPTION_INVALID', `split is "${text}"; must name each split once`);
  if (Math.abs(sum - 1) > SHARE_TOLERANCE)
    throw new DatasetError('OPTION_INVALID', `split is "${text}"; its shares must add up to 1, not ${sum}`);
  return shares;
}

/**
 * Identifies the task of an episode: environment, task and environment seed. Where the recorder knew neither task nor seed, the
 * group, whose members share their task.
 */
export function taskKey({ environment, task, environmentSeed, groupId }: EpisodeFacts): string {
  if (task === 'null' && environmentSeed === null) return `group/${groupId}`;
  return `task/${environment}/${environmentSeed}/${task}`;
}

/** Chooses the split of a task by a hash of seed and task: all episodes of one task get the same, in every data set. */
export function splitOfTask(key: string, shares: SplitShares, seed: number): string {
  const place = parseInt(hash('sha256', `split/${seed}/${key}`).slice(0, 12), 16) / 2 ** 48;
  let end = 0;
  for (const [name, share] of Object.entries(shares)) {
    end += share;
    if (place < end) return name;
  }
  return Object.keys(shares).at(-1) ?? 'train';
}
