import { join } from 'node:path';
import { CheckpointFiles, openPolicyCheckpoint, evaluateLogprobs, type SequenceBatch } from '@retrace/policy';
import { openBackend } from '@retrace/compute';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findBrowser } from '../scripts/find-browser.mjs';
import { makeDataDirectory, startRetrace } from './support/cli.mjs';
import { DashboardBrowser } from './support/dashboard-browser.mjs';

/**
 * A run of several tokens a turn under `retrace up`, whose collector plays the next round while the trainer is at work. Few episodes
 * at once make a round last several times as long as an update, so policies come in the middle of rounds.
 */
const run = [
  ...['--recipe', 'memory-bandit-grpo', '--updates', '5'],
  ...[
    'collection.maxStaleness=1',
    'collection.concurrentEpisodes=4',
    'collection.groupsPerRound=8',
    'context.maxNewTokens=4',
    'optimizer.epochs=1',
    'evaluation.everyUpdates=0',
    'evaluation.numTestEpisodes=0',
  ].flatMap((assignment) => ['--set', assignment]),
];

const found = findBrowser();
const noBrowser = 'unavailable' in found ? ` (skipped, because ${found.unavailable})` : '';

interface Step {
  readonly episode_id: string;
  readonly kept_prefix_tokens: number;
  readonly token_ids: number[];
  readonly action_mask: number[];
  readonly token_logprobs: number[];
  readonly token_policy_versions: number[];
}

describe('a run whose collector and trainer work at the same time', () => {
  const data = makeDataDirectory();
  let server: ReturnType<typeof startRetrace>;
  let url = '';

  beforeAll(async () => {
    server = startRetrace(['up', ...run, '--port', '0', '--data-dir', data.path]);
    url = await server.waitFor(/dashboard at (http:\S+)\/live/, 110_000);
    await server.waitFor(/the run has finished/, 110_000);
    await openBackend();
  }, 120_000);

  afterAll(async () => {
    await server.killTree();
    data.remove();
  });

  async function sql<Row>(query: string): Promise<Row[]> {
    const response = await fetch(`${url}/api/sql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, maxRows: 10_000 }),
    });
    const { columns, rows } = (await response.json()) as { columns: { name: string }[]; rows: unknown[][] };
    return rows.map(
      (row) => Object.fromEntries(columns.map(({ name }, column) => [name, row[column]])) as Row,
    );
  }

  it('changes the policy in the middle of episodes; the store has for each token the version that sampled it, and its logprob', async () => {
    const steps = await sql<Step>(`
      SELECT episode_id, kept_prefix_tokens, token_ids, action_mask, token_logprobs, token_policy_versions
      FROM steps WHERE episode_id IN (SELECT episode_id FROM episodes WHERE policy_version_min < policy_version_max)
      ORDER BY episode_id, step`);
    const { batch, actionMask, logprobs, versions } = contextsOf(steps);
    expect(batch.sequenceOffsets.length - 1).toBeGreaterThan(0);

    // The run ends in the log; the store has its last records up to two seconds later.
    const policies = await vi.waitFor(
      async () => {
        const published = await sql<{
          policy_version: number;
          weights_sha256: string;
          weights_size_bytes: number;
        }>('SELECT policy_version, weights_sha256, weights_size_bytes FROM policies ORDER BY policy_version');
        expect(published.map(({ policy_version }) => policy_version)).toEqual([0, 1, 2, 3, 4, 5]);
        return published;
      },
      { timeout: 20_000, interval: 200 },
    );
    const checkpoints = new CheckpointFiles(join(data.path, 'checkpoints'));
    const sampled = [...actionMask.keys()].filter((n) => actionMask[n] === 1);
    let [largestOwn, largestForeign] = [0, 0];
    for (const { policy_version, weights_sha256: sha256, weights_size_bytes: sizeBytes } of policies) {
      const model = await openPolicyCheckpoint(checkpoints, { sha256, sizeBytes });
      const scored = await evaluateLogprobs(model, batch, {
        temperature: 1,
        maxTokensPerMicroBatch: 4096,
        actionMask,
      });
      model.dispose();
      for (const n of sampled) {
        const difference = Math.abs(scored.logprobs[n] - logprobs[n]);
        if (versions[n] === policy_version) largestOwn = Math.max(largestOwn, difference);
        else largestForeign = Math.max(largestForeign, difference);
      }
    }
    expect(largestOwn).toBeLessThan(1e-4);
    // Versions are that far apart, so that a token under the wrong one would have been seen.
    expect(largestForeign).toBeGreaterThan(1e-2);
  });

  it('trains on nothing staler than the recipe allows, all of it with logprobs that the trainer finds again', async () => {
    const metrics = await sql<{ name: string; most: number }>(
      "SELECT name, max(value) AS most FROM metrics WHERE source = 'trainer' GROUP BY name",
    );
    const most = new Map(metrics.map(({ name, most: value }) => [name, value]));
    expect(most.get('train/stalenessMax')).toBe(1);
    expect(most.get('train/ratioMaxDeviation')).toBeLessThan(1e-4);
  });

  describe.skipIf(noBrowser !== '')(`its dashboard in a browser${noBrowser}`, () => {
    let browser: DashboardBrowser;

    beforeAll(async () => {
      browser = await DashboardBrowser.open('path' in found ? found.path : '');
      // The browser's first start on a machine may take longer than all that follows.
      browser.page.setDefaultTimeout(20_000);
    }, 60_000);

    afterAll(async () => {
      await browser.close();
    });

    it('opens the newest run with its curves, and draws its baselines as dashed lines', async () => {
      const { page } = browser;
      await page.goto(`${url}/live`);
      await page.getByRole('heading', { level: 1, name: 'memory-bandit-grpo' }).waitFor();
      const chart = page.getByRole('figure', { name: 'Success rate' });
      await chart.getByText(/^Rollout \d+\.\d%$/).waitFor();
      const [runId] = /[0-9a-f-]{36}$/.exec(page.url()) ?? [];
      const response = await fetch(`${url}/api/runs/${runId}`);
      const { baselines } = (await response.json()) as { baselines: { name: string; success: number }[] };
      expect(baselines.length).toBeGreaterThan(1);
      const { texts, numDashedLines } = await browser.drawn();
      const labels = baselines.map(({ name, success }) => `${name} ${(100 * success).toFixed(1)}%`);
      expect(texts).toEqual(expect.arrayContaining(labels));
      expect(numDashedLines).toBeGreaterThanOrEqual(baselines.length);
    });

    it('shows each step of an episode with its tokens, their policy versions and its reward', async () => {
      const { page } = browser;
      await page.getByRole('link', { name: 'Episodes' }).click();
      await page.getByRole('row').nth(1).getByRole('link').first().click();
      await page.getByRole('heading', { name: 'Step 7' }).waitFor();
      const [episodeId] = /[0-9a-f-]{36}$/.exec(page.url()) ?? [];
      const steps = await sql<{ token_ids: number[]; reward: number; observation: string; last: number }>(
        `SELECT token_ids, reward, observation, token_policy_versions[-1] AS last FROM steps
         WHERE episode_id = '${episodeId}' ORDER BY step`,
      );
      expect(steps).toHaveLength(8);
      for (const [number, { token_ids, reward, observation, last }] of steps.entries()) {
        const step = page.getByRole('listitem').filter({ hasText: `Step ${number}` });
        expect(
          await step
            .getByRole('group', { name: `Tokens of step ${number}` })
            .getByRole('button')
            .count(),
        ).toBe(token_ids.length);
        const text = (await step.innerText()).replaceAll('\u2212', '-');
        expect(text).toContain(observation);
        expect(Number(/reward\s+(-?[\d.]+)/i.exec(text)?.[1])).toBeCloseTo(reward, 2);
        await step.getByRole('button').last().hover();
        await step.getByText(`Policy version ${last}`, { exact: true }).last().waitFor();
      }
    });

    it('shows the result of a SQL query as a table', async () => {
      const { page } = browser;
      await page.getByRole('link', { name: 'SQL', exact: true }).click();
      const query = 'SELECT split, count() AS n FROM episodes GROUP BY split';
      await page.getByLabel('SQL query').fill(query);
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      const result = page.getByRole('region', { name: 'Query result' });
      await result.getByRole('columnheader', { name: 'split' }).waitFor();
      const [{ n }] = await sql<{ n: number }>(query);
      expect(await result.getByRole('columnheader').allInnerTexts()).toEqual(['split', 'n']);
      expect(await result.getByRole('cell').allInnerTexts()).toEqual(['train', String(n)]);
    });

    it('reports no error or warning in the console of the browser', () => {
      expect(browser.complaints).toEqual([]);
    });
  });
});

/** Each episode is one context that only grows: its steps' tokens one after the other. */
function contextsOf(steps: readonly Step[]) {
  const offsets = [0];
  let numTokens = 0;
  steps.forEach(({ episode_id, kept_prefix_tokens, token_ids }, s) => {
    if (s > 0 && episode_id !== steps[s - 1].episode_id) offsets.push(numTokens);
    expect(kept_prefix_tokens).toBe(numTokens - offsets[offsets.length - 1]);
    numTokens += token_ids.length;
  });
  if (numTokens > 0) offsets.push(numTokens);
  const batch: SequenceBatch = {
    tokenIds: Int32Array.from(steps.flatMap(({ token_ids }) => token_ids)),
    sequenceOffsets: Int32Array.from(offsets),
  };
  return {
    batch,
    actionMask: Uint8Array.from(steps.flatMap(({ action_mask }) => action_mask)),
    logprobs: steps.flatMap(({ token_logprobs }) => token_logprobs),
    versions: steps.flatMap(({ token_policy_versions }) => token_policy_versions),
  };
}
