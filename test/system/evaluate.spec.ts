import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataDirectory, runRetrace, startRetrace } from '../support/cli.mjs';
import { placeTrainedDirectory } from '../support/trained-directory.mjs';

interface Estimate {
  readonly estimator: string;
  readonly value: number;
  readonly interval: { readonly low: number; readonly high: number };
}
interface Report {
  readonly runId: string;
  readonly policyRunId: string;
  readonly policyVersion: number;
  readonly rewardVersion: string;
  readonly estimates: readonly Estimate[] | null;
  readonly unavailable: readonly object[];
  readonly diagnostics: {
    readonly numEpisodes: number;
    readonly effectiveEpisodes: number;
    readonly chiSquare: number;
  };
  readonly behaviorReturn: number;
  readonly numFitted: number;
}

describe('retrace evaluate', { timeout: 1_200_000 }, () => {
  const directory = makeDataDirectory();
  let store: ReturnType<typeof startRetrace>;
  const data = ['--data-dir', join(directory.path, 'data')];

  async function json<T>(...args: readonly string[]): Promise<T> {
    const { code, stdout, stderr } = await runRetrace([...args, ...data, '--json']);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout) as T;
  }
  const evaluate = (...args: readonly string[]) => json<Report>('evaluate', ...args);
  const meanReturn = async (version: number) => {
    const [{ mean }] = await json<{ mean: number }[]>(
      'sql',
      `SELECT avg(return) AS mean FROM episodes
       WHERE run_id = (SELECT max(run_id) FROM runs) AND split = 'train' AND policy_version_max = ${version}`,
    );
    return mean;
  };

  beforeAll(async () => {
    await placeTrainedDirectory(join(directory.path, 'data'), 2);
    // One store for all commands: it is what takes the time.
    store = startRetrace(['store', '--port', '0', ...data]);
    await store.waitFor(/store at (http:\S+);/);
  }, 300_000);
  afterAll(async () => {
    await store.stop('SIGTERM');
    directory.remove();
  });

  it('estimates the mean return for a policy on its own unused episodes, with every estimator', async () => {
    const report = await evaluate('--policy', '2', '--behavior-version', '2');
    const { numEpisodes, effectiveEpisodes, chiSquare } = report.diagnostics;
    expect(numEpisodes).toBe(256);
    expect(effectiveEpisodes).toBeCloseTo(256, 2);
    expect(chiSquare).toBeCloseTo(0, 4);
    expect(report.behaviorReturn).toBeCloseTo(await meanReturn(2), 6);
    expect(report.unavailable).toEqual([]);
    const values = new Map(report.estimates?.map((estimate) => [estimate.estimator, estimate]));
    for (const name of ['importanceSampling', 'perDecision', 'weightedImportanceSampling']) {
      expect(values.get(name)?.value).toBeCloseTo(report.behaviorReturn, 4);
    }
    // The model's and the sample's idea of the same policy differ by the luck of its draws.
    for (const name of ['doublyRobust', 'fittedQ']) {
      const { low, high } = values.get('perDecision')?.interval ?? { low: NaN, high: NaN };
      const { value, interval } = values.get(name) ?? { value: NaN, interval: { low: NaN, high: NaN } };
      expect(Math.abs(value - report.behaviorReturn)).toBeLessThan(high - low);
      expect(interval.low).toBeLessThanOrEqual(value);
      expect(interval.high).toBeGreaterThanOrEqual(value);
    }
  });

  it(
    'estimates the return of an earlier version from episodes of later ones, except those that it was trained on',
    { tags: 'release' },
    async () => {
      const report = await evaluate(
        '--policy',
        '0',
        '--behavior-version',
        '1',
        '--estimators',
        'perDecision,doublyRobust',
      );
      const truth = await meanReturn(0);
      expect(report.estimates?.map(({ estimator }) => estimator)).toEqual(['perDecision', 'doublyRobust']);
      for (const { interval } of report.estimates ?? []) {
        expect(interval.low).toBeLessThan(truth);
        expect(interval.high).toBeGreaterThan(truth);
      }
      expect(report.numFitted).toBe(0);
      const [{ fed }] = await json<{ fed: number }[]>(
        'sql',
        'SELECT sum(length(episode_ids)) AS fed FROM updates WHERE run_id = (SELECT max(run_id) FROM runs) AND update_number = 1',
      );
      const later = await evaluate('--policy', '1', '--estimators', 'perDecision');
      expect(later.numFitted).toBe(fed);
      expect(later.diagnostics.numEpisodes).toBe(256 * 3 - fed);
    },
  );

  it('uses the rewards of a stored reward version', { tags: 'release' }, async () => {
    const { rewardVersion } = await json<{ rewardVersion: string }>(
      ...['score', '--recipe', 'bandit-ppo', '--name', 'plain'],
    );
    const scored = await evaluate(
      '--policy',
      '2',
      '--reward-version',
      'plain',
      '--estimators',
      'perDecision',
    );
    const own = await evaluate('--policy', '2', '--estimators', 'perDecision');
    expect(scored.rewardVersion).toBe(rewardVersion);
    expect(scored.estimates).toEqual(own.estimates);
  });

  const refusal = 'exits %i for `evaluate` with %j, and says what to do';
  async function refuses(exitCode: number, args: readonly string[], message: RegExp): Promise<void> {
    const { code, stderr } = await runRetrace(['evaluate', ...args, ...data]);
    expect(code).toBe(exitCode);
    expect(stderr).toMatch(message);
  }

  it.each<[number, string[], RegExp]>([
    [
      3,
      ['--policy', 'latest'],
      /there are no episodes; at least 30 effective ones .* would do; 768 more episodes were used in updates that led to this policy/,
    ],
    [2, ['--policy', '9'], /policy 9 of run \S+ does not exist; the run has versions 0 … 3/],
  ])(refusal, refuses);

  it.each<[number, string[], RegExp]>([
    [
      3,
      ['--policy', '1', '--min-effective', '5000'],
      /at least 5000 \(minEffectiveEpisodes\) are needed .* about \d+ more episodes .* would do/,
    ],
    [
      2,
      ['--policy', '1', '--estimators', 'doublyRobst'],
      /unknown estimator "doublyRobst"; did you mean doublyRobust/,
    ],
    [2, ['--policy', '1', '--reward-version', 'other'], /reward version 'other' .* has no scores/],
    [2, ['--policy', '1', '--gamma', '2'], /must be a number from 0 to 1/],
  ])(refusal, { tags: 'release' }, refuses);

  it(
    'evaluates a policy of another run with the same tokenizer, and refuses one with another tokenizer',
    { tags: 'release' },
    async () => {
      const runs = () => json<{ runId: string }[]>('sql', 'SELECT run_id AS runId FROM runs ORDER BY run_id');
      const [{ runId: other }, { runId }] = await runs();
      const only = ['--estimators', 'perDecision', '--behavior-version', '0'];
      const report = await evaluate('--run', runId, '--policy', `${other}/0`, ...only);
      expect(report).toMatchObject({ runId, policyRunId: other, policyVersion: 0, numFitted: 0 });
      // They fed updates of their own run alone, so all of version 0 count.
      expect(report.diagnostics.numEpisodes).toBe(256);
      const [{ truth }] = await json<{ truth: number }[]>(
        'sql',
        `SELECT avg(return) AS truth FROM episodes WHERE run_id = '${other}' AND split = 'train' AND policy_version_max = 0`,
      );
      const { low, high } = report.estimates?.[0].interval ?? { low: NaN, high: NaN };
      expect(low - 0.1).toBeLessThan(truth);
      expect(high + 0.1).toBeGreaterThan(truth);

      const lake = ['--environment', 'frozen-lake', '--policy', 'random', '--episodes', '2'];
      expect((await runRetrace(['collect', ...lake, ...data])).code).toBe(0);
      const refused = await runRetrace(['evaluate', '--policy', `${other}/latest`, ...data]);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toMatch(
        /^retrace: policies of run \S+ use tokenizer \w{12}, but the episodes of run \S+ use \w{12}/m,
      );
      // What was collected outside training has no rewards of its own: those of the policy's run count.
      const own = ['--environment', 'bandit', '--policy', 'latest', '--episodes', '64'];
      expect((await runRetrace(['collect', ...own, ...data])).code).toBe(0);
      const collected = await evaluate('--policy', `${runId}/latest`, '--estimators', 'perDecision');
      expect(collected.diagnostics.numEpisodes).toBe(64);
      expect(collected.estimates?.[0].value).toBeCloseTo(collected.behaviorReturn, 4);

      const cut = await runRetrace([
        'collect',
        ...own,
        '--top-k',
        '1',
        '--temperature',
        '0.5',
        '--json',
        ...data,
      ]);
      const { runId: cutRun } = JSON.parse(cut.stdout) as { runId: string };
      const sampled = `SELECT DISTINCT top_k, temperature, arraySum(token_logprobs) AS logprob FROM events WHERE run_id = '${cutRun}' AND kind = 'StepRecorded'`;
      // The only token that is left has the probability 1.
      expect(await json('sql', sampled)).toEqual([{ top_k: 1, temperature: 0.5, logprob: 0 }]);
      const excluded = await runRetrace([
        'evaluate',
        '--policy',
        `${runId}/latest`,
        '--run',
        cutRun,
        ...data,
      ]);
      expect(excluded.code).toBe(3);

      const unknown = await runRetrace(['evaluate', '--policy', 'none/1', ...data]);
      expect(unknown.stderr).toMatch(/^retrace: run "none" not found/m);
    },
  );
});
