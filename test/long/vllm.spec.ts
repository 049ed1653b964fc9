import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveRecipe } from '@retrace/config';
import { afterAll, describe, expect, it } from 'vitest';
import { DataDirectories, runRetrace } from '../support/cli.mjs';
import { startVllm } from '../support/vllm-server.mjs';

/** Logprobs of both sides are float32 sums in another order. */
const MAX_DEVIATION = 2e-3;
const NUM_UPDATES = 30;

const started = await startVllm({
  options: [
    ...['--enable-lora', '--max-loras', '2', '--max-lora-rank', '8'],
    ...['--logprobs-mode', 'processed_logprobs', '--generation-config', 'vllm'],
  ],
  variables: { VLLM_ALLOW_RUNTIME_LORA_UPDATING: '1' },
});
const reason = 'unavailable' in started ? ` (skipped, because ${started.unavailable})` : '';

/** Share of the letters a to m in the action: a random model of letters scores about a half, and can learn to do better. */
const REWARD = `export default {
  name: 'early-letters',
  description: 'share of the letters a to m',
  options: {},
  score: ({ steps }) => ({
    scope: 'episode',
    value: (steps[0].action.match(/[a-m]/g) ?? []).length / 8,
  }),
};
`;

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

interface Metric {
  readonly step: number;
  readonly value: number;
}

describe.skipIf(reason !== '')(`training through a real vLLM${reason}`, () => {
  const { url, model } = 'url' in started ? started : { url: '', model: '' };
  const data = new DataDirectories();
  let directory: string | undefined;

  afterAll(async () => {
    if ('stop' in started) await started.stop();
    data.removeAll();
    if (directory !== undefined) await rm(directory, { recursive: true });
  });

  /** Trains, and returns the data directory. */
  async function train(change: {
    readonly endpoint: boolean;
    readonly maxStaleness: number;
    readonly seed: number;
  }) {
    directory ??= await mkdtemp(join(tmpdir(), 'retrace-vllm-recipes-'));
    await writeFile(join(directory, 'reward.mjs'), REWARD);
    const { model: own, compute, ...base } = structuredClone(resolveRecipe('bandit-ppo'));
    void [own, compute];
    const recipe = {
      ...base,
      name: change.endpoint ? 'letters-vllm' : 'letters-local',
      seed: change.seed,
      numUpdates: NUM_UPDATES,
      context: { window: 'observation', tokenizer: 'model', maxNewTokens: 8 },
      policy: {
        model,
        maxPositions: 512,
        lora: {
          rank: 8,
          alpha: 16,
          targets: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'up_proj', 'down_proj'],
        },
      },
      reward: { ...base.reward, components: [{ module: './reward.mjs' }] },
      collection: {
        ...base.collection,
        groupsPerRound: 16,
        groupSize: 4,
        concurrentEpisodes: 64,
        maxStaleness: change.maxStaleness,
        temperature: 0.9,
        ...(change.endpoint && { endpoint: { kind: 'vllm', url } }),
      },
      advantage: { estimator: 'grpo', options: {}, shuffle: false },
      loss: { ...base.loss, valueCoefficient: 0 },
      optimizer: { ...base.optimizer, learningRate: 0.01, warmupFraction: 0 },
      imitation: null,
      evaluation: { everyUpdates: 0, numValidationEpisodes: 0, numTestEpisodes: 0 },
    };
    const file = join(directory, `${recipe.name}-${change.seed}-${change.maxStaleness}.json`);
    await writeFile(file, JSON.stringify(recipe));
    const dataDirectory = data.make();
    const { code, stderr } = await runRetrace(['train', '--recipe', file, '--data-dir', dataDirectory]);
    expect(code, stderr).toBe(0);
    return dataDirectory;
  }

  async function sql<Row>(dataDirectory: string, query: string): Promise<readonly Row[]> {
    const { stdout } = await runRetrace(['sql', query, '--format', 'json', '--data-dir', dataDirectory]);
    return JSON.parse(stdout) as readonly Row[];
  }

  const metricsOf = (dataDirectory: string, name: string) =>
    sql<Metric>(dataDirectory, `SELECT step, value FROM metrics WHERE name = '${name}' ORDER BY step`);

  /** Mean reward by policy version, from the stored actions. */
  async function rewardsOf(dataDirectory: string): Promise<number[]> {
    const rows = await sql<{ reward: number }>(
      dataDirectory,
      "SELECT token_policy_versions[-1] AS version, avg(length(extractAll(action, '[a-m]')) / 8) AS reward FROM steps GROUP BY 1 ORDER BY 1",
    );
    return rows.map(({ reward }) => Number(reward));
  }

  it('stores logprobs that Retrace computes again, the version of every token, and learns as with local sampling', async ({
    task,
  }) => {
    const curves: Record<string, number[][]> = { vllm: [], local: [] };
    const deviations: number[] = [];
    for (const seed of [1, 2]) {
      const served = await train({ endpoint: true, maxStaleness: 0, seed });
      deviations.push(
        ...(await metricsOf(served, 'train/ratioMaxDeviation')).map(({ value }) => Number(value)),
      );
      const rows = await sql<{ engine: string; version: number; wrong: string; untrainable: string }>(
        served,
        `SELECT engine, policy_version AS version, toString(countIf(arrayExists((v, m) -> m = 1 AND v != policy_version, token_policy_versions, action_mask))) AS wrong,
                  toString(countIf(untrainable != '')) AS untrainable
           FROM (SELECT *, token_policy_versions[-1] AS policy_version FROM steps) GROUP BY 1, 2 ORDER BY 2`,
      );
      expect(rows.map(({ version }) => Number(version))).toEqual(
        Array.from({ length: NUM_UPDATES }, (_, i) => i),
      );
      expect(new Set(rows.map(({ engine }) => engine))).toEqual(new Set(['vllm 0.32.0']));
      expect(rows.every(({ wrong, untrainable }) => wrong === '0' && untrainable === '0')).toBe(true);
      const local = await train({ endpoint: false, maxStaleness: 0, seed });
      for (const [name, from] of Object.entries({ vllm: served, local })) {
        curves[name].push(await rewardsOf(from));
      }
    }
    expect(deviations).toHaveLength(2 * NUM_UPDATES);
    expect(Math.max(...deviations)).toBeLessThan(MAX_DEVIATION);
    for (const [name, runs] of Object.entries(curves)) {
      for (const curve of runs) {
        expect(meanOf(curve.slice(-5)), name).toBeGreaterThan(meanOf(curve.slice(0, 5)) + 0.1);
      }
    }
    const last = (runs: readonly number[][]) => meanOf(runs.map((curve) => meanOf(curve.slice(-5))));
    expect(Math.abs(last(curves.vllm) - last(curves.local))).toBeLessThan(0.15);
    task.meta.figures = [
      {
        name: 'largest deviation of the ratio from 1, first pass of every update',
        value: Math.max(...deviations),
      },
      ...Object.entries(curves).flatMap(([name, runs]) =>
        runs.map((curve, i) => ({
          name: `${name}, seed ${i + 1}: reward of every fifth version`,
          value: curve
            .filter((_, round) => round % 5 === 0 || round === curve.length - 1)
            .map((value) => value.toFixed(2))
            .join(', '),
        })),
      ),
    ];
  }, 1_800_000);

  it('samples each token by a version that was served, while the trainer goes on', async () => {
    const dataDirectory = await train({ endpoint: true, maxStaleness: 1, seed: 3 });
    const versions = await sql<{ version: number }>(
      dataDirectory,
      'SELECT DISTINCT arrayJoin(arrayFilter((v, m) -> m = 1, token_policy_versions, action_mask)) AS version FROM steps ORDER BY 1',
    );
    expect(versions.length).toBeGreaterThan(NUM_UPDATES / 2);
    expect(versions.every(({ version }) => version >= 0 && version <= NUM_UPDATES)).toBe(true);
    const staleness = await metricsOf(dataDirectory, 'train/stalenessMax');
    expect(Math.max(...staleness.map(({ value }) => Number(value)))).toBeLessThanOrEqual(1);
  }, 900_000);
});
