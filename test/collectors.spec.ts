import { afterEach, describe, expect, it } from 'vitest';
import { makeDataDirectory, runRetrace } from './support/cli.mjs';
import { trainWithKills, type Kill } from './support/kill-drill.mjs';

const recipe = [
  ...['--recipe', 'bandit-ppo', '--updates', '5', '--backend', 'wasm'],
  ...['--set', 'evaluation.numTestEpisodes=100', '--set', 'evaluation.numValidationEpisodes=50'],
];

describe('a run with several collectors', () => {
  const directories: { path: string; remove: () => void }[] = [];
  const newDirectory = () => {
    const directory = makeDataDirectory();
    directories.push(directory);
    return directory.path;
  };
  afterEach(() => {
    for (const directory of directories.splice(0)) directory.remove();
  });

  it('ends with the policy that one collector gives, whichever of them is killed when', async () => {
    const kills: Kill[] = [
      { target: 'collector-2', afterUpdate: 1, delayMs: 90 },
      { target: 'collector', afterUpdate: 2, delayMs: 150 },
      { target: 'tree', afterUpdate: 3, delayMs: 40 },
    ];
    const options = { withinMs: 120_000 };
    const alone = await trainWithKills([...recipe, '--data-dir', newDirectory()], [], options);
    const dataDir = newDirectory();
    const shared = await trainWithKills(
      [...recipe, '--collectors', '2', '--data-dir', dataDir],
      kills,
      options,
    );

    expect(shared.numUpdates).toBe(5);
    expect(shared.weightsSha256).toBe(alone.weightsSha256);
    expect(shared.metrics['test/success']).toBe(alone.metrics['test/success']);
    expect(await runRetrace(['verify', '--data-dir', dataDir])).toMatchObject({ code: 0, stderr: '' });

    // Both played: each half of every group place, and no place trained on twice.
    const sql = `SELECT JSONExtractInt(payload, 'shareIndex') AS share, count() > 0 AS played
      FROM events WHERE kind = 'CollectorClaimed' GROUP BY share ORDER BY share`;
    const claims = await runRetrace(['sql', sql, '--json', '--data-dir', dataDir]);
    expect(JSON.parse(claims.stdout)).toMatchObject([{ share: 0 }, { share: 1 }]);
  }, 300_000);
});
