import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveRecipe, type EndpointRecipe } from '@retrace/config';
import { CheckpointFiles, evaluateLogprobs, openPolicyCheckpoint } from '@retrace/policy';
import { DataDirectories, runRetrace } from './cli.mjs';

/** Share of capitals and digits in the action, which no special token contains. A random model scores about a fifth. */
const REWARD = `export default {
  name: 'capitals',
  description: 'share of capitals and digits',
  options: {},
  score: ({ steps }) => ({
    scope: 'episode',
    value: (steps[0].action.match(/[0-9A-Z]/g) ?? []).length / 8,
  }),
};
`;
const TEMPERATURE = 0.9;
const RATE = { warmupFraction: 0, decayStartFraction: 1 };
const LORA = {
  rank: 8,
  alpha: 16,
  targets: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'up_proj', 'down_proj'],
};

export interface ServedRun {
  /** Null samples in the collector. */
  readonly endpoint: EndpointRecipe | null;
  readonly seed: number;
  readonly numUpdates: number;
  /** Trains adapters; otherwise all weights. */
  readonly adapters: boolean;
  readonly maxStaleness: number;
  readonly concurrentEpisodes: number;
}

interface TokenRow {
  readonly token_ids: readonly number[];
  readonly action_mask: readonly number[];
  readonly token_logprobs: readonly number[];
  readonly token_policy_versions: readonly number[];
}

/** Runs of `retrace train` on a tiny model whose turns a server samples, and what is stored of them. */
export class ServedTraining {
  private readonly data = new DataDirectories();
  private directory: string | null = null;
  private numRuns = 0;

  /** @param model directory of the model */
  constructor(private readonly model: string) {}

  async removeAll(): Promise<void> {
    this.data.removeAll();
    if (this.directory !== null) await rm(this.directory, { recursive: true });
  }

  /** Trains, and returns the data directory. */
  async train(run: ServedRun): Promise<string> {
    this.directory ??= await mkdtemp(join(tmpdir(), 'retrace-served-recipes-'));
    await writeFile(join(this.directory, 'reward.mjs'), REWARD);
    const file = join(this.directory, `recipe-${this.numRuns++}.json`);
    await writeFile(file, JSON.stringify(this.recipeOf(run)));
    const dataDirectory = this.data.make();
    const { code, stderr } = await runRetrace(['train', '--recipe', file, '--data-dir', dataDirectory]);
    if (code !== 0) throw new Error(`retrace train exited with ${code}: ${stderr}`);
    return dataDirectory;
  }

  async sql<Row>(dataDirectory: string, query: string): Promise<readonly Row[]> {
    const args = ['sql', query, '--format', 'json', '--data-dir', dataDirectory];
    const { code, stdout, stderr } = await runRetrace(args);
    if (code !== 0) throw new Error(`retrace sql exited with ${code}: ${stderr}`);
    return JSON.parse(stdout) as readonly Row[];
  }

  /** Mean reward by the version that sampled the last token, from the stored actions. */
  async rewardsOf(dataDirectory: string): Promise<number[]> {
    const rows = await this.sql<{ reward: number }>(
      dataDirectory,
      "SELECT token_policy_versions[-1] AS version, avg(length(extractAll(action, '[0-9A-Z]')) / 8) AS reward FROM steps GROUP BY 1 ORDER BY 1",
    );
    return rows.map(({ reward }) => Number(reward));
  }

  /**
   * Computes the stored logprobs again, each with the checkpoint of the version that its token is marked with.
   *
   * @returns the largest difference, how many tokens of each version were compared, and the least |log π_v − log π_w| that would show, as the
   *   largest change of a logprob from one version to the next
   */
  async checkTokens(dataDirectory: string) {
    const rows = await this.sql<TokenRow>(
      dataDirectory,
      'SELECT token_ids, action_mask, token_logprobs, token_policy_versions FROM steps',
    );
    const policies = await this.sql<{ version: string; sha256: string; size: string }>(
      dataDirectory,
      'SELECT policy_version AS version, weights_sha256 AS sha256, weights_size_bytes AS size FROM policies ORDER BY policy_version',
    );
    const files = new CheckpointFiles(join(dataDirectory, 'checkpoints'));
    const counts = new Map<number, number>();
    let largest = 0;
    let asNeighbour = 0;
    for (const { version, sha256, size } of policies) {
      const marked = rows.filter(({ token_policy_versions: all }) => all.includes(Number(version)));
      if (marked.length === 0) continue;
      const model = await openPolicyCheckpoint(files, { sha256, sizeBytes: Number(size) });
      const own = await differences(model, marked, Number(version));
      const next = await differences(model, rows, Number(version) + 1);
      model.dispose();
      counts.set(Number(version), own.length);
      largest = Math.max(largest, ...own);
      asNeighbour = Math.max(asNeighbour, ...next);
    }
    return { largest, counts, asNeighbour };
  }

  private recipeOf(run: ServedRun): object {
    const { model: own, compute, ...base } = structuredClone(resolveRecipe('bandit-ppo'));
    void [own, compute];
    return {
      ...base,
      name: run.endpoint === null ? 'capitals-local' : `capitals-${run.endpoint.kind}`,
      seed: run.seed,
      numUpdates: run.numUpdates,
      context: { window: 'observation', tokenizer: 'model', maxNewTokens: 8 },
      policy: { model: this.model, maxPositions: 512, ...(run.adapters && { lora: LORA }) },
      reward: { ...base.reward, components: [{ module: './reward.mjs' }] },
      collection: {
        ...base.collection,
        groupsPerRound: 16,
        groupSize: 4,
        concurrentEpisodes: run.concurrentEpisodes,
        maxStaleness: run.maxStaleness,
        temperature: TEMPERATURE,
        ...(run.endpoint && { endpoint: run.endpoint }),
      },
      advantage: { estimator: 'grpo', options: {} },
      loss: { ...base.loss, valueCoefficient: 0 },
      optimizer: { ...base.optimizer, ...RATE, learningRate: run.adapters ? 0.01 : 0.003 },
      imitation: null,
      // Every version keeps its weights, for `checkTokens`.
      checkpoint: { keepLast: 3, keepEvery: 25 },
      evaluation: { everyUpdates: 0, numValidationEpisodes: 0, numTestEpisodes: 0 },
    };
  }
}

/** |stored − own logprob| of the tokens that are marked with a version. */
async function differences(
  model: Parameters<typeof evaluateLogprobs>[0],
  rows: readonly TokenRow[],
  version: number,
): Promise<number[]> {
  const offsets = [0];
  for (const { token_ids: ids } of rows) offsets.push(offsets[offsets.length - 1] + ids.length);
  const marks = rows.flatMap(({ action_mask: mask, token_policy_versions: versions }) =>
    mask.map((sampled, n) => (sampled === 1 && versions[n] === version ? 1 : 0)),
  );
  if (!marks.includes(1)) return [];
  const { logprobs } = await evaluateLogprobs(
    model,
    {
      tokenIds: Int32Array.from(rows.flatMap(({ token_ids: ids }) => ids)),
      sequenceOffsets: Int32Array.from(offsets),
    },
    { temperature: TEMPERATURE, maxTokensPerMicroBatch: 4096, actionMask: Uint8Array.from(marks) },
  );
  const stored = rows.flatMap(({ token_logprobs: all }) => all);
  return stored.map((logprob, n) => Math.abs(logprob - logprobs[n])).filter((_, n) => marks[n] === 1);
}

/** Mean of the last rounds. */
export function finalLevel(curve: readonly number[]): number {
  return computeMean(curve.slice(-3));
}

/** Mean of the first rounds. */
export function initialLevel(curve: readonly number[]): number {
  return computeMean(curve.slice(0, 3));
}

/** Mean over the rounds of the difference between two kinds of runs, each the mean of its curves. */
export function measureDistance(a: readonly number[][], b: readonly number[][]): number {
  const mean = (curves: readonly number[][], round: number) =>
    computeMean(curves.map((curve) => curve[round]));
  return computeMean(a[0].map((_, round) => Math.abs(mean(a, round) - mean(b, round))));
}

/** A curve as text, every third version of it. */
export function showCurve(curve: readonly number[]): string {
  return curve
    .filter((_, round) => round % 3 === 0 || round === curve.length - 1)
    .map((value) => value.toFixed(2))
    .join(', ');
}

function computeMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
