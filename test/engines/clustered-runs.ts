import { join } from 'node:path';
import type { EngineRecipe } from '@retrace/config';
import { expect, it } from 'vitest';
import { isAlive, runRetrace, startRetrace } from '../support/cli.mjs';
import { InProcessRun } from '../support/in-process-run.js';
import { newDirectory, smallRecipe } from './torch.js';

const NUM_UPDATES = 12;
const NUM_EPISODES = 64;
const FEW = [
  ...[
    `collection.groupsPerRound=${NUM_EPISODES}`,
    'evaluation.everyUpdates=0',
    'evaluation.numTestEpisodes=0',
  ],
];

/** A torch worker of two ranks that a cluster started, and starts again when a rank is lost. */
export interface ClusteredWorker {
  /** The section of a recipe that names the worker. */
  readonly section: Required<Pick<EngineRecipe, 'url' | 'tokenFile'>> & Pick<EngineRecipe, 'kind'>;
  /** Process ids of the newest group of ranks, by rank. */
  readonly ranks: readonly number[];
}

/**
 * Tests of runs whose ranks are killed, one at a time. Nothing of ours starts them again.
 *
 * @param cluster the worker, once it runs
 */
export function itSurvivesLostRanks(cluster: () => ClusteredWorker): void {
  const directory = newDirectory();
  const recipe = () => ({
    ...smallRecipe('bandit-ppo', { numUpdates: 4, assignments: [...FEW, 'optimizer.learningRate=0.01'] }),
    engine: cluster().section,
  });
  const weightsOf = async (run: InProcessRun) => (await run.updates()).map(({ weights }) => weights.sha256);

  it.each([0, 1])(
    'goes on to the same weights when rank %i is killed in the middle of an update',
    async (rank) => {
      const whole = await InProcessRun.begin(join(directory, `whole-${rank}`), recipe());
      await whole.work();
      const run = await InProcessRun.begin(join(directory, `killed-${rank}`), recipe());
      const before = cluster().ranks;
      expect(before).toHaveLength(2);
      await run.work({
        onPoint: (point, updateNumber) => {
          if (point === 'planned' && updateNumber === 2) process.kill(before[rank], 'SIGKILL');
        },
      });
      expect(await weightsOf(run)).toEqual(await weightsOf(whole));
      const [{ engine }] = await run.updates();
      expect(engine).toMatchObject({ kind: 'torch', device: 'cpu', numProcesses: 2 });
      const warnings = (await run.warnings()).map(({ message }) => message);
      expect(warnings[0]).toMatch(/engine.*starting it again from the last commit, to make update 2 again/);
      // The whole group has ended, and another was started.
      expect(before.filter(isAlive)).toEqual([]);
      expect(cluster().ranks.filter((pid) => before.includes(pid))).toEqual([]);
      await run.close();
      await whole.close();
    },
  );

  it('trained by the command line loses and doubles no update and no episode when a rank is killed', async () => {
    const data = newDirectory();
    const query = async (sql: string) => {
      const { code, stdout, stderr } = await runRetrace(['--data-dir', data, '--json', 'sql', sql]);
      expect(code === 0 ? '' : stderr).toBe('');
      return JSON.parse(stdout) as readonly Readonly<Record<string, string | number>>[];
    };
    const session = startRetrace([
      ...['--data-dir', data, 'train', '--recipe', 'bandit-ppo', '--updates', `${NUM_UPDATES}`],
      ...FEW.flatMap((assignment) => ['--set', assignment]),
      ...['--engine-url', cluster().section.url, '--engine-token-file', cluster().section.tokenFile],
    ]);
    try {
      await session.waitFor(new RegExp(`update 4 of ${NUM_UPDATES}`), 600_000);
      process.kill(cluster().ranks[1], 'SIGKILL');
      expect((await session.ended) === 0 ? '' : session.lines.slice(-20).join('\n')).toBe('');
    } finally {
      await session.killTree();
    }
    const counts = (table: string, id: string) =>
      query(`SELECT toInt32(count()) AS rows, toInt32(uniqExact(${id})) AS ids FROM ${table}`);
    expect(await counts('updates', 'update_number')).toEqual([{ rows: NUM_UPDATES, ids: NUM_UPDATES }]);
    const numPlayed = NUM_UPDATES * NUM_EPISODES;
    expect(await counts("episodes WHERE split = 'train'", 'episode_id')).toEqual([
      { rows: numPlayed, ids: numPlayed },
    ]);
    const engines = 'SELECT DISTINCT engine, toInt32(engine_processes) AS ranks FROM updates';
    expect(await query(engines)).toEqual([{ engine: 'torch', ranks: 2 }]);
    const [{ losses }] = await query(
      "SELECT toInt32(count()) AS losses FROM warnings WHERE message LIKE '%starting it again from the last commit%'",
    );
    expect(losses).toBe(1);
    expect((await runRetrace(['--data-dir', data, 'verify'])).stdout).toMatch(/no faults$/);
  });
}
