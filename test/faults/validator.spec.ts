import { afterAll, expect, it } from 'vitest';
import { DataDirectories, runRetrace } from '../support/cli.mjs';
import { trainWithKills, type Kill } from '../support/kill-drill.mjs';

const NUM_UPDATES = 6;
const recipe = [
  ...['--recipe', 'bandit-ppo', '--updates', String(NUM_UPDATES), '--backend', 'wasm'],
  ...['--set', 'collection.groupsPerRound=64'],
];
/** Each validation takes much longer than the time from its start to the kill. */
const validation = [
  ...['--set', 'evaluation.everyUpdates=3', '--set', 'evaluation.numValidationEpisodes=1200'],
  ...['--set', 'evaluation.samplesPerTask=4', '--set', 'evaluation.numTestEpisodes=50'],
];
const none = ['--set', 'evaluation.everyUpdates=0', '--set', 'evaluation.numTestEpisodes=0'];
const options = { withinMs: 120_000 };
const directories = new DataDirectories();

afterAll(() => {
  directories.removeAll();
});

async function sql(dataDir: string, query: string): Promise<unknown> {
  const { stdout, stderr, code } = await runRetrace(['sql', query, '--json', '--data-dir', dataDir]);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as unknown;
}

it.each([
  ['in a process of its own', 'validator', 'process.colocateValidator=false'],
  ['in the process of the trainer', 'trainer+collector', 'process.colocateValidator=true'],
] as const)(
  'a validator %s that is killed: each version is validated once, by episodes that count once, and training is as without validation',
  async (_, target, place) => {
    const kills: Kill[] = [
      { target, duringValidation: 0, delayMs: 500 },
      { target: 'tree', afterUpdate: 2, delayMs: 500 },
      { target, duringValidation: 3, delayMs: 500 },
      { target, duringValidation: 6, delayMs: 500 },
    ];
    const [dataDir, plainDir] = [directories.make(), directories.make()];
    const run = [...recipe, ...validation, '--set', place, '--data-dir', dataDir];
    const killed = await trainWithKills(run, kills, options);
    const plain = await trainWithKills([...recipe, ...none, '--data-dir', plainDir], [], options);
    expect(killed.weightsSha256).toBe(plain.weightsSha256);
    expect(await runRetrace(['verify', '--data-dir', dataDir])).toMatchObject({ code: 0, stderr: '' });

    const validated = `SELECT JSONExtractString(payload, 'split') AS s, split, policy_version AS version, count() AS times
    FROM events WHERE kind = 'PolicyValidated' GROUP BY s, split, version ORDER BY split DESC, version`;
    expect(await sql(dataDir, validated)).toMatchObject([
      { split: 'validation', version: 0, times: 1 },
      { split: 'validation', version: 3, times: 1 },
      { split: 'validation', version: 6, times: 1 },
      { split: 'test', version: 6, times: 1 },
    ]);
    // Of the groups that count, each has its greedy and its four sampled episodes; the others were cut off by a kill.
    const groups = `SELECT reason, count() AS groups, uniqExact(length(episode_ids)) AS sizes, max(length(episode_ids)) AS size
    FROM groups WHERE split = 'validation' GROUP BY reason ORDER BY reason`;
    const [abandoned, complete] = (await sql(dataDir, groups)) as Record<string, unknown>[];
    expect(complete).toMatchObject({ reason: 'complete', groups: 3 * 1200, sizes: 1, size: 5 });
    expect(abandoned).toMatchObject({ reason: 'abandoned' });
    const open = 'SELECT count() AS n FROM episodes WHERE NOT sealed';
    expect(await sql(dataDir, open)).toEqual([{ n: 0 }]);
  },
  600_000,
);
