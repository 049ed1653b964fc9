import { cpSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DataDirectories, kill, runRetrace, startRetrace } from '../support/cli.mjs';
import { trainWithKills, type Kill, type KilledRun } from '../support/kill-drill.mjs';

const NUM_UPDATES = 7;
const recipe = [
  ...['--recipe', 'bandit-ppo', '--updates', String(NUM_UPDATES), '--backend', 'wasm'],
  ...['--set', 'updateTokens=true', '--set', 'collection.groupsPerRound=128'],
  ...['--set', 'evaluation.numTestEpisodes=100', '--set', 'evaluation.numValidationEpisodes=50'],
];
const options = { withinMs: 300_000 };
const directories = new DataDirectories();
const undisturbedDir = directories.make();
let undisturbed: KilledRun;
/** Rows of the undisturbed run that every other one must have. */
let undisturbedRows: StoredRows;

/** Counts and hashes of what a store has of its run. */
interface StoredRows {
  readonly updates: number;
  readonly distinctUpdates: number;
  readonly tokens: number;
  readonly placesOfTokens: number;
  readonly hashOfTokens: string;
  readonly ratio: number;
}

/** Every token of every optimizer step, with the figures that the update read of it. */
const STORED_ROWS = `SELECT
    (SELECT count() FROM updates WHERE applied_at IS NOT NULL) AS updates,
    (SELECT uniqExact(update_number) FROM updates WHERE applied_at IS NOT NULL) AS distinctUpdates,
    count() AS tokens, uniqExact(update_number, optimizer_step, episode_id, step, position) AS placesOfTokens,
    sum(sipHash64(update_number, optimizer_step, step, position, ratio, advantage, value, entropy, clipped)) AS hashOfTokens,
    (SELECT max(value) FROM metrics WHERE name = 'train/ratioMaxDeviation') AS ratio
  FROM update_tokens`;

beforeAll(async () => {
  undisturbed = await trainWithKills([...recipe, '--data-dir', undisturbedDir], [], options);
  [undisturbedRows] = await sql<StoredRows>(undisturbedDir, STORED_ROWS);
});
afterAll(() => {
  directories.removeAll();
});

/** Expects the policy of the undisturbed run, every update once, and no fault from `verify`. */
async function expectUndisturbed(killed: KilledRun, dataDir: string): Promise<void> {
  expect(killed.numUpdates).toBe(NUM_UPDATES);
  expect(killed.weightsSha256).toBe(undisturbed.weightsSha256);
  expect(killed.metrics['test/success']).toBe(undisturbed.metrics['test/success']);
  expect(new Set(killed.updatesTold).size).toBe(killed.updatesTold.length);
  const verified = await runRetrace(['verify', '--data-dir', dataDir]);
  expect(verified).toMatchObject({ code: 0, stderr: '' });
  const [rows] = await sql<StoredRows>(dataDir, STORED_ROWS);
  expect(rows).toMatchObject({ updates: NUM_UPDATES, distinctUpdates: NUM_UPDATES });
  // Every token of every optimizer step once, with the figures of the undisturbed run.
  const { tokens, placesOfTokens, hashOfTokens } = undisturbedRows;
  expect(tokens).toBeGreaterThan(0);
  expect(placesOfTokens).toBe(tokens);
  expect(rows).toMatchObject({ tokens, placesOfTokens, hashOfTokens });
  // Through log and store, the trainer computes the probabilities that the collector recorded.
  expect(rows.ratio).toBeLessThan(1e-4);
}

async function sql<Row>(dataDir: string, query: string): Promise<Row[]> {
  const { stdout } = await runRetrace(['sql', query, '--json', '--data-dir', dataDir]);
  return JSON.parse(stdout) as Row[];
}

describe('a run that is killed or stopped, and started again', () => {
  it(
    'a killed run of several processes: ends with the same policy as an undisturbed run in one, and loses or doubles nothing',
    { tags: 'release', timeout: 600_000 },
    async () => {
      const kills: Kill[] = [
        { target: 'tree', afterUpdate: 0, delayMs: 900 },
        { target: 'collector', afterUpdate: 1, delayMs: 130 },
        { target: 'trainer', afterUpdate: 2, delayMs: 420 },
        { target: 'store', afterUpdate: 3, delayMs: 60 },
        { target: 'sink', afterUpdate: 4, delayMs: 250 },
        { target: 'supervisor', afterUpdate: 5, delayMs: 20 },
        { target: 'stop', afterUpdate: 6, delayMs: 0 },
      ];
      const dataDir = directories.make();
      const apart = ['--set', 'process.colocate=false'];
      const killed = await trainWithKills([...recipe, ...apart, '--data-dir', dataDir], kills, options);
      await expectUndisturbed(killed, dataDir);

      // Only the weights of versions 0 and 3 … 7 and the newest three optimizer states are left, even where another process wrote the rest.
      // A kill during a write leaves unfinished files, which a later run removes after an hour.
      const checkpointsOf = (directory: string) =>
        readdirSync(join(directory, 'checkpoints'))
          .filter((name) => name.endsWith('.safetensors'))
          .sort();
      expect(checkpointsOf(dataDir)).toHaveLength(6 + 3);
      expect(checkpointsOf(dataDir)).toEqual(checkpointsOf(undisturbedDir));
      const replay = ['replay', '--update', '4', '--backend', 'wasm', '--json', '--data-dir', dataDir];
      const replayed = await runRetrace(replay);
      expect(replayed.stderr).toMatch(/^run "latest" is \S+ \(\S+\)$/);
      expect(replayed.code).toBe(0);
      expect(JSON.parse(replayed.stdout)).toMatchObject({
        beganAfter: 0,
        sameWeights: true,
        lossDifference: 0,
      });
      expect(checkpointsOf(dataDir)).toHaveLength(6 + 3);
      const removed = await runRetrace([
        'save-policy',
        join(dataDir, 'saved'),
        '--policy',
        '1',
        '--data-dir',
        dataDir,
      ]);
      expect(removed.code).toBe(3);
      expect(removed.stderr).toMatch(/policy 1 of run .*: its weights are not kept; .*: 0, 3–7$/m);
    },
  );

  it('a run in one process: ends with the same policy when that process, the sink and the whole tree are killed', async () => {
    const kills: Kill[] = [
      { target: 'trainer+collector', afterUpdate: 1, delayMs: 10 },
      { target: 'sink', afterUpdate: 3, delayMs: 60 },
      { target: 'tree', afterUpdate: 4, delayMs: 30 },
    ];
    const dataDir = directories.make();
    const killed = await trainWithKills([...recipe, '--data-dir', dataDir], kills, options);
    await expectUndisturbed(killed, dataDir);
  }, 600_000);

  it(
    'a run in one process: ends with the same policy when that process is killed again and again',
    { tags: 'release', timeout: 600_000 },
    async () => {
      const kills: Kill[] = [
        { target: 'trainer+collector', afterUpdate: 1, delayMs: 10 },
        { target: 'trainer+collector', afterUpdate: 2, delayMs: 90 },
        { target: 'trainer+collector', afterUpdate: 5, delayMs: 200 },
      ];
      const dataDir = directories.make();
      const killed = await trainWithKills([...recipe, '--data-dir', dataDir], kills, options);
      await expectUndisturbed(killed, dataDir);
    },
  );

  it(
    'a run on stored data waits for a store that is killed while it starts',
    { tags: 'release', timeout: 600_000 },
    async () => {
      const dataDir = directories.make();
      const isFifo = (path: string) => lstatSync(path).isFIFO();
      cpSync(undisturbedDir, dataDir, { recursive: true, filter: (path) => !isFifo(path) });
      const data = ['--from-run', 'latest', '--updates', '1', '--set', 'updateTokens=false'];
      const session = startRetrace(['train', ...recipe, ...data, '--data-dir', dataDir]);
      await session.waitFor(/ClickHouse engine/, options.withinMs);
      kill(session.roles().store);
      expect(await session.ended).toBe(0);
      expect(session.lines.join('\n')).toMatch(
        /store +warn: was killed by SIGKILL[\s\S]*run ended: finished/,
      );
    },
  );

  it(
    'a run without a store: ends with the same policy, and `rebuild` makes the store that it would have had',
    { tags: 'release', timeout: 600_000 },
    async () => {
      const kills: Kill[] = [
        { target: 'trainer+collector', afterUpdate: 1, delayMs: 300 },
        { target: 'tree', afterUpdate: 3, delayMs: 200 },
        { target: 'trainer+collector', afterUpdate: 5, delayMs: 100 },
      ];
      const dataDir = directories.make();
      const killed = await trainWithKills([...recipe, '--no-store', '--data-dir', dataDir], kills, options);
      expect(readdirSync(join(dataDir, 'store'))).toEqual([]);
      // Another one makes its store as any does: a sink follows the log.
      const sunkDir = directories.make();
      cpSync(join(dataDir, 'log'), join(sunkDir, 'log'), { recursive: true });
      expect(await runRetrace(['rebuild', '--data-dir', dataDir])).toMatchObject({ code: 0, stderr: '' });
      await expectUndisturbed(killed, dataDir);
      const hashes = async (directory: string) => {
        const { stdout } = await runRetrace(['verify', '--json', '--data-dir', directory]);
        return (JSON.parse(stdout) as { readonly runHashes: unknown }).runHashes;
      };
      expect(await hashes(dataDir)).toEqual(await hashes(sunkDir));
    },
  );

  it(
    'a run whose store is away goes on, and the store has everything once it is back',
    { tags: 'release', timeout: 600_000 },
    async () => {
      const dataDir = directories.make();
      const away = await trainWithKills([...recipe, '--data-dir', dataDir], [], {
        ...options,
        storeAwayUntil: 5,
      });
      await expectUndisturbed(away, dataDir);
    },
  );

  it(
    'a killed run under `up` with two collectors: ends with the same policy when collectors and the API with its sink are killed',
    { tags: 'release', timeout: 600_000 },
    async () => {
      const kills: Kill[] = [
        { target: 'collector-2', afterUpdate: 1, delayMs: 90 },
        { target: 'collector', afterUpdate: 2, delayMs: 150 },
        { target: 'api', afterUpdate: 4, delayMs: 50 },
      ];
      const dataDir = directories.make();
      const shared = await trainWithKills([...recipe, '--collectors', '2', '--data-dir', dataDir], kills, {
        ...options,
        command: 'up',
      });
      await expectUndisturbed(shared, dataDir);

      // Each collector played half of the places of every group, and no place was trained on twice.
      const claims = `SELECT JSONExtractInt(payload, 'shareIndex') AS share, count() > 0 AS played
      FROM events WHERE kind = 'CollectorClaimed' GROUP BY share ORDER BY share`;
      expect(await sql(dataDir, claims)).toMatchObject([{ share: 0 }, { share: 1 }]);
    },
  );
});
