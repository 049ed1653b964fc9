import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBrowser } from '../../scripts/find-browser.mjs';
import { makeDataDirectory, startRetrace } from '../support/cli.mjs';
import { DashboardBrowser } from '../support/dashboard-browser.mjs';

/** A run that is validated before and after it, and soon solves its tasks. */
const run = [
  ...['--recipe', 'bandit-ppo', '--updates', '10'],
  ...[
    'evaluation.everyUpdates=10',
    'evaluation.numValidationEpisodes=40',
    'evaluation.numTestEpisodes=0',
  ].flatMap((assignment) => ['--set', assignment]),
];

const found = findBrowser();
const noBrowser = 'unavailable' in found ? ` (skipped, because ${found.unavailable})` : '';

/** Over the wire, compressed, with headers: a second at 1.6 Mbit/s. */
const MAX_FIRST_VIEW_BYTES = 200_000;

interface AnswerBody {
  readonly policy_version: number;
  readonly choices: readonly { readonly message: { readonly content: string } }[];
}

describe('the first minutes of "retrace up"', () => {
  const data = makeDataDirectory();
  let server: ReturnType<typeof startRetrace>;
  let url = '';
  let runId = '';
  let agents = '';

  beforeAll(async () => {
    server = startRetrace(['up', ...run, '--port', '0', '--data-dir', data.path]);
    url = await server.untilServing(110_000);
    await server.waitFor(/the run has finished/, 110_000);
    const { items } = await getJson<{ items: { runId: string }[] }>('/api/runs');
    runId = items[0].runId;
    const { proxy } = await getJson<{ proxy: { url: string } }>('/api/agents');
    agents = proxy.url;
  });

  afterAll(async () => {
    await server.killTree();
    data.remove();
  });

  async function getJson<Answer>(path: string): Promise<Answer> {
    return (await (await fetch(`${url}${path}`)).json()) as Answer;
  }

  const call = (body: object, headers: Record<string, string> = {}) =>
    fetch(`${agents}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ max_tokens: 1, ...body }),
    });

  it.each(['/api/runs', '/api/runs?sort=metric&metric=rollout/success', '/api/alarms'])(
    '%s asks the store nothing, once it was answered and nothing has changed since',
    async (path) => {
      const numQueries = async () => {
        const metrics = await (await fetch(`${url}/metrics`)).text();
        return Number(/^retrace_store_queries_total (\d+)$/m.exec(metrics)?.[1]);
      };
      await getJson(path);
      expect(await numQueries()).toBeGreaterThan(0);
      // The run has ended in the log; until the store has its last records, they are read for each answer.
      const numForAnswer = async () => {
        const before = await numQueries();
        expect((await getJson<{ items?: unknown[] }>(path)).items).toBeInstanceOf(Array);
        return (await numQueries()) - before;
      };
      await expect.poll(numForAnswer).toBe(0);
    },
  );

  it.skipIf(noBrowser !== '')(
    `the list of runs and the overview of a run load at most 200 kB, and tooltips once they are needed${noBrowser}`,
    async () => {
      for (const path of ['/runs', `/runs/${runId}`]) {
        const browser = await DashboardBrowser.open((found as { path: string }).path);
        const { page } = browser;
        try {
          const bytes = await browser.countBytes();
          await page.goto(`${url}${path}`);
          if (path === '/runs') await page.getByRole('region', { name: 'Runs' }).waitFor();
          else {
            await page.getByRole('region', { name: 'First and newest policy' }).waitFor();
            await page.getByText('Newest policy', { exact: true }).first().waitFor();
            await page.getByRole('region', { name: 'Now yours' }).waitFor();
            await expect.poll(async () => (await browser.drawn()).texts.length).toBeGreaterThan(0);
          }
          const files = () => [...bytes.keys()].filter((file) => file.includes('/assets/'));
          expect(files().length).toBeGreaterThan(3);
          const sum = [...bytes.values()].reduce((before, size) => before + size, 0);
          expect(sum, JSON.stringify([...bytes])).toBeLessThanOrEqual(MAX_FIRST_VIEW_BYTES);

          expect(files().some((file) => file.includes('tooltip-'))).toBe(false);
          await page.getByRole('button', { name: 'Commands' }).hover();
          await page.getByRole('tooltip').getByText('Pages, runs, ids and commands').waitFor();
          expect(files().some((file) => file.includes('tooltip-'))).toBe(true);
          expect(browser.complaints).toEqual([]);
        } finally {
          await browser.close();
        }
      }
    },
  );

  it('the newest policy answers agents at the address that the API tells, and their call is an episode of the store', async () => {
    const messages = [{ role: 'user', content: 'choose phoenix or rocket' }];
    const response = await call({ model: `run:${runId}`, messages });
    const answer = (await response.json()) as AnswerBody;
    expect(answer.policy_version).toBe(10);
    const episode = `/api/runs/${response.headers.get('x-retrace-run')}/episodes/${response.headers.get('x-retrace-episode')}`;
    await expect
      .poll(
        async () =>
          (await getJson<{ steps?: { action: string; tokens: { ids: number[] } }[] }>(episode)).steps,
      )
      .toMatchObject([{ action: answer.choices[0].message.content }]);
    const { steps } = await getJson<{ steps: { tokens: { ids: number[]; logprobs: number[] } }[] }>(episode);
    expect(steps[0].tokens.ids.length).toBeGreaterThan(1);

    const other = await call({ model: 'gpt-4o', messages });
    expect((await other.json()) as object).toMatchObject({ model: `run:${runId}`, policy_version: 10 });
    const unknown = await call({ model: `run:${runId}@999`, messages });
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ error: { code: 'model_not_found' } });
    const foreign = await call(
      { messages },
      { origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' },
    );
    expect(foreign.status).toBe(403);
  });

  it('a question to the first policy is answered by version 0, and bad ones are refused by name', async () => {
    const ask = (body: object, of = runId) =>
      fetch(`${url}/api/runs/${of}/answers`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const answered = await ask({ text: 'choose phoenix or rocket', policy: 'first', maxTokens: 1 });
    expect(await answered.json()).toMatchObject({
      policyVersion: 0,
      tokens: { actionMask: [1], policyVersions: [0] },
    });
    const refused = await ask({ text: '', maxTokens: 0 });
    expect(refused.status).toBe(400);
    expect((await refused.json()) as object).toMatchObject({
      errors: [{ field: 'text' }, { field: 'maxTokens' }],
    });
    expect((await ask({ text: 'a' }, '01900000-0000-7000-8000-000000000000')).status).toBe(404);
  });

  it.skipIf(noBrowser !== '')(
    `the overview shows an unseen task twice, takes a question, and says what was learned${noBrowser}`,
    async () => {
      const browser = await DashboardBrowser.open((found as { path: string }).path);
      const { page } = browser;
      try {
        await page.goto(`${url}/runs/${runId}`);
        const twice = page.getByRole('region', { name: 'First and newest policy' });
        await twice.getByText('Newest policy').waitFor();
        expect(await twice.getByText('Failure').count()).toBe(1);
        expect(await twice.getByText('Success').count()).toBe(1);
        await twice.getByRole('button', { name: 'Next task' }).click();
        await twice.getByText('Task 2 of 40').waitFor();
        expect(new URL(page.url()).searchParams.get('task')).toMatch(/^[0-9a-f]{16}$/);

        const yours = page.getByRole('region', { name: 'Now yours' });
        await yours.getByText(`export OPENAI_BASE_URL=${agents}/v1`).waitFor();
        await yours.getByRole('button', { name: 'Ask', exact: true }).click();
        await yours.getByRole('group', { name: 'Tokens of the answer' }).waitFor();
        await yours.getByLabel('Captured calls').getByRole('link').first().waitFor();

        const learned = page.getByRole('region', { name: 'What was learned' });
        await learned.getByText('Not stored yet', { exact: true }).waitFor();
        await expect.poll(() => learned.getByText('0 records').count()).toBe(1);
        expect(await browser.accessibilityFaults()).toEqual([]);
        expect(browser.complaints).toEqual([]);
      } finally {
        await browser.close();
      }
    },
  );
});
