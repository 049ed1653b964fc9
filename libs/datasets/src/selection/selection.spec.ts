import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { storedEpisode } from '../stored-episode.fixture.js';
import { readSelection, type SelectionRow } from './read-selection.js';
import { parseSplitShares, splitOfTask, taskKey } from './splits.js';

const RUN = '01920000-0000-7000-8000-000000000001';
const EPISODE = '01920000-0000-7000-8000-00000000000a';
const OTHER = '01920000-0000-7000-8000-00000000000b';

async function* from(rows: readonly SelectionRow[]) {
  yield* rows;
}

describe('readSelection', () => {
  it('collects the steps of an episode, ascending, each once', async () => {
    const rows = [3, 1, '1'].map((step) => ({ run_id: RUN, episode_id: EPISODE, step }));
    await expect(readSelection(from(rows))).resolves.toEqual([
      { runId: RUN, episodeId: EPISODE, split: null, steps: [1, 3] },
    ]);
  });

  it('keeps the order in which episodes come first', async () => {
    const rows = [OTHER, EPISODE, OTHER].map((episode_id) => ({ run_id: RUN, episode_id }));
    const selections = await readSelection(from(rows));
    expect(selections.map(({ episodeId }) => episodeId)).toEqual([OTHER, EPISODE]);
  });

  it.each([
    [{ episode_id: EPISODE }, 'has no column "run_id"'],
    [
      { run_id: RUN, episode_id: 7 },
      "Row 0 of the query's result: episode_id is 7; it must be a lower-case UUID",
    ],
    [{ run_id: RUN, episode_id: EPISODE, step: -1 }, 'step is -1; it must be an integer ≥ 0'],
    [{ run_id: RUN, episode_id: EPISODE, step: null }, 'step is null; it must be an integer ≥ 0'],
    [{ run_id: RUN, episode_id: EPISODE, split: '../x' }, 'split is "../x"; it must be a lower-case name'],
  ])('refuses %j', async (row, message) => {
    await expect(readSelection(from([row]))).rejects.toThrow(message);
  });

  it('refuses two splits for one episode', async () => {
    const rows = ['train', 'test'].map((split) => ({ run_id: RUN, episode_id: EPISODE, split }));
    await expect(readSelection(from(rows))).rejects.toThrow('must be "train" as in another row');
  });
});

describe('splits', () => {
  it('are refused when their shares do not add up to 1, or when they are no shares', () => {
    expect(parseSplitShares('train=0.9, test=0.1')).toEqual({ train: 0.9, test: 0.1 });
    expect(() => parseSplitShares('train=0.9,test=0.2')).toThrow('must add up to 1');
    expect(() => parseSplitShares('train=1,train=0')).toThrow('must be names with shares above 0');
    expect(() => parseSplitShares('train')).toThrow('must be names with shares above 0');
  });

  it('get their share of many tasks, within four standard deviations', () => {
    const shares = { train: 0.8, test: 0.2 };
    const numTest = Array.from({ length: 10_000 }, (_, k) => splitOfTask(`t${k}`, shares, 1)).filter(
      (split) => split === 'test',
    ).length;
    // sqrt(10,000 × 0.2 × 0.8) = 40
    expect(Math.abs(numTest - 2_000)).toBeLessThan(160);
  });

  it('are the same for every episode of a task, and of a group whose task is unknown', () => {
    const key = (facts: object) => taskKey(storedEpisode(1, [], facts));
    expect(key({ groupId: 'a' })).toBe(key({ groupId: 'b' }));
    expect(key({ environmentSeed: 8 })).not.toBe(key({}));
    const unknown = { task: 'null', environmentSeed: null };
    expect(key({ ...unknown, groupId: 'a' })).not.toBe(key({ ...unknown, groupId: 'b' }));
  });

  it('give each task a split that has a share', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(), (key, seed) => {
        expect(['a', 'b']).toContain(splitOfTask(key, { a: 0.5, b: 0.5 }, seed));
      }),
    );
  });
});
