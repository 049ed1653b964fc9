import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findBrowser } from '../scripts/find-browser.mjs';
import { makeDataDirectory, runRetrace, startRetrace } from './support/cli.mjs';
import { DashboardBrowser, PHONE_WIDTH } from './support/dashboard-browser.mjs';

const found = findBrowser();
const noBrowser = 'unavailable' in found ? ` (skipped, because ${found.unavailable})` : '';

const CALL = { id: 'call_1', type: 'function', function: { name: 'look_up', arguments: '{"size":42}' } };

/** Two conversations with a shop; the first has tool calls, reasoning, usage and a tag. */
const records = [
  {
    type: 'episode',
    episode: 'customer-1',
    environment: 'shop',
    task: { buy: 'shoes' },
    tags: ['returning'],
    metadata: { country: 'NL' },
  },
  {
    type: 'step',
    episode: 'customer-1',
    step: 0,
    model: 'some-model',
    messages: {
      input: [
        { role: 'system', content: 'You sell shoes.' },
        { role: 'user', content: 'Blue shoes, size 42?' },
      ],
      output: {
        role: 'assistant',
        content: null,
        reasoning_content: 'I must look it up.',
        tool_calls: [CALL],
      },
    },
    usage: { inputTokens: 21, outputTokens: 9, costUsd: 0.25 },
  },
  {
    type: 'step',
    episode: 'customer-1',
    step: 1,
    messages: {
      input: [{ role: 'tool', tool_call_id: 'call_1', content: 'one pair left' }],
      output: { role: 'assistant', content: 'One pair is left.' },
    },
    reward: 1,
  },
  { type: 'end', episode: 'customer-1', success: true },
  { type: 'episode', episode: 'customer-2', environment: 'shop' },
  { type: 'step', episode: 'customer-2', step: 0, observation: 'Red shoes?', action: 'Sold out.', reward: 0 },
  { type: 'end', episode: 'customer-2', success: false },
];

describe('a server without a training run, into which an agent records', () => {
  const data = makeDataDirectory();
  let server: ReturnType<typeof startRetrace>;
  let url = '';
  let runId = '';

  const post = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status, path).toBeLessThan(300);
    return (await response.json()) as Record<string, unknown>;
  };
  const sql = async (query: string) => (await post('/api/sql', { query })).rows as unknown[][];

  beforeAll(async () => {
    server = startRetrace(['up', '--no-training', '--port', '0', '--data-dir', data.path]);
    url = await server.untilServing(60_000);
    runId = String((await post('/api/runs', { name: 'shop agent' })).runId);
    await post(`/api/runs/${runId}/records`, records);
    await vi.waitFor(
      async () => {
        expect(await sql('SELECT count() FROM episodes WHERE sealed')).toEqual([[2]]);
      },
      { timeout: 120_000, interval: 200 },
    );
  });

  afterAll(async () => {
    await server.killTree();
    data.remove();
  });

  it('lists the run as recorded, and its episodes by text, tag, return and cost', async () => {
    expect(await sql('SELECT kind FROM runs')).toEqual([['recorded']]);
    const named = async (filter: string) => {
      const response = await fetch(`${url}/api/runs/${runId}/episodes?${filter}`);
      const { items } = (await response.json()) as { items: { externalId: string }[] };
      return items.map(({ externalId }) => externalId);
    };
    await expect(named('text=BLUE shoes')).resolves.toEqual(['customer-1']);
    await expect(named('text=sold out')).resolves.toEqual(['customer-2']);
    await expect(named('tag=returning')).resolves.toEqual(['customer-1']);
    await expect(named('maxReturn=0.5')).resolves.toEqual(['customer-2']);
    await expect(named('minCostUsd=0.2')).resolves.toEqual(['customer-1']);
    await expect(named('maxCostUsd=0.2')).resolves.toEqual([]);
    await expect(named('startedBefore=2020-01-01T00:00:00Z')).resolves.toEqual([]);
  });

  describe.skipIf(noBrowser !== '')(`its page in a browser${noBrowser}`, () => {
    let browser: DashboardBrowser;

    beforeAll(async () => {
      browser = await DashboardBrowser.open('path' in found ? found.path : '');
    });
    afterAll(() => browser.close());

    it('shows totals of the run in an overview, and no tabs for updates and a recipe', async () => {
      const { page } = browser;
      await page.goto(`${url}/runs/${runId}`);
      await page.getByText('Mean return').waitFor();
      const tabs = page.getByRole('navigation', { name: 'Run' }).getByRole('link');
      expect(await tabs.allInnerTexts()).toEqual(['Overview', 'Episodes', 'Rewards']);
      const figure = (name: string) =>
        page.getByText(name, { exact: true }).locator('xpath=ancestor-or-self::dt/following-sibling::dd');
      expect(await figure('Success').innerText()).toBe('50.0%');
      expect(await figure('Steps').innerText()).toBe('3');
      expect(await figure('Input tokens').innerText()).toBe('21');
      expect(await browser.accessibilityFaults()).toEqual([]);
    });

    it('shows the reference of the API with examples, and sends a request from there', async () => {
      const { page } = browser;
      await page.goto(`${url}/api`);
      const sql = page.locator('#operations-sql-SqlController_run');
      await sql.getByRole('button', { name: /^POST/ }).click();
      await sql.getByText('"query": "SELECT split').waitFor();
      await sql.getByRole('button', { name: 'Try it out' }).click();
      await sql.getByRole('button', { name: 'Execute' }).click();
      await sql.getByText('"numRows": 1').last().waitFor();
      expect(await browser.widthOnPhone()).toBe(PHONE_WIDTH);
      expect(browser.complaints).toEqual([]);
    });

    it('opens a run by a part of its id, with the whole id in the address', async () => {
      const { page } = browser;
      for (const part of [runId.slice(-8), 'latest']) {
        await page.goto(`${url}/runs/${part}/episodes?tag=returning`);
        await page.waitForURL(`${url}/runs/${runId}/episodes?tag=returning`);
      }
      await page.goto(`${url}/runs`);
      await page.waitForURL(`${url}/`);
      expect(browser.complaints).toEqual([]);
    });

    it('asks once where the server refuses, however long the page stays open', async () => {
      const { page } = browser;
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      await page.clock.install();
      await page.goto(`${url}/runs/NOT-AN-ID`);
      await page.getByText('runId must be an id').waitFor();
      await page.clock.runFor(60_000);
      // Something else is asked for again all the time.
      await expect.poll(() => asked.filter((path) => path === '/api/health').length).toBeGreaterThan(3);
      expect(asked.filter((path) => path.startsWith('/api/runs/'))).toEqual(['/api/runs/NOT-AN-ID']);
      browser.complaints.length = 0;
      await page.clock.resume();
    });

    it('shows a data set that a command made: its query, episodes and how it is loaded', async () => {
      const { page } = browser;
      const query = 'SELECT run_id, episode_id FROM episodes WHERE success';
      const made = await runRetrace([
        ...['dataset', 'create', 'solved', '--format', 'sft', '--sql', query, '--data-dir', data.path],
      ]);
      expect(made.code, made.stderr).toBe(0);
      await page.goto(`${url}/plays`);
      await page.getByRole('heading', { name: 'No evaluations' }).waitFor();
      expect(await browser.accessibilityFaults()).toEqual([]);
      await page.goto(`${url}/datasets`);
      await page.getByRole('link', { name: 'solved' }).waitFor();
      expect(await browser.accessibilityFaults()).toEqual([]);
      await page.getByRole('link', { name: 'solved' }).click();
      await page.getByRole('region', { name: 'Query' }).getByText(query).waitFor();
      await page.getByText('load_dataset("').waitFor();
      await page.getByRole('region', { name: 'Episodes' }).getByRole('link').first().click();
      await page.getByRole('list', { name: 'Messages of step 0' }).waitFor();
      await page.goto(`${url}/datasets/solved`);
      await page.getByText('load_dataset("').waitFor();
      expect(await browser.accessibilityFaults()).toEqual([]);
    });

    it('filters the list by a text that is typed, and opens the conversation with roles, tool calls and reasoning', async () => {
      const { page } = browser;
      await page.goto(`${url}/runs/${runId}/episodes`);
      await page.getByLabel('Text').fill('blue');
      await page.getByLabel('Text').press('Enter');
      await expect.poll(() => page.getByRole('row').count()).toBe(2);
      await page.getByRole('row').nth(1).getByRole('link').first().click();
      const messages = page.getByRole('list', { name: 'Messages of step 0' }).getByRole('listitem');
      await messages.first().waitFor();
      expect(await messages.allInnerTexts()).toEqual([
        expect.stringMatching(/^system\s+You sell shoes\.$/),
        expect.stringMatching(/^user\s+Blue shoes, size 42\?$/),
        expect.stringMatching(
          /^assistant\s+Reasoning\s+I must look it up\.\s+look_up call_1\s+\{\s+"size": 42\s+\}$/,
        ),
      ]);
      await page.getByText('$0.25').first().waitFor();
      expect(await browser.accessibilityFaults()).toEqual([]);
    });

    it('takes the score of a person, which SQL and the page show, and which a later one replaces', async () => {
      const { page } = browser;
      await page.getByLabel('Your name').fill('Ada');
      await page.getByRole('button', { name: 'Bad' }).click();
      const scores = page.getByRole('region', { name: 'Scores' }).getByRole('listitem');
      await scores.filter({ has: page.getByRole('img', { name: 'Bad' }), hasText: 'by Ada' }).waitFor();
      await page.getByLabel('Note').fill('kind and quick');
      await page.getByRole('button', { name: 'Good' }).click();
      await expect
        .poll(() => scores.allInnerTexts())
        .toEqual([expect.stringMatching(/^\s*by Ada kind and quick$/)]);
      expect(await scores.getByRole('img').getAttribute('aria-label')).toBe('Good');
      await page.getByLabel('Number').fill('0.5');
      await page.getByRole('button', { name: 'Score' }).click();
      await page.getByText('score 0.5').waitFor();
      expect(await sql('SELECT name, value, source FROM current_rewards ORDER BY name')).toEqual([
        ['score', 0.5, 'human:Ada'],
        ['thumb', 1, 'human:Ada'],
      ]);
      expect(browser.complaints).toEqual([]);
    });

    it('wraps texts of 200,000 characters without a space, and scrolls each in its own box', async () => {
      const { page } = browser;
      const text = 'x'.repeat(200_000);
      const name = 'w'.repeat(250);
      const { runId: ofTexts } = await post('/api/runs', { name: 'n'.repeat(200), tags: [name] });
      const output = { role: 'assistant', content: text, reasoning_content: text, tool_calls: [CALL] };
      await post(`/api/runs/${ofTexts as string}/records`, [
        {
          type: 'episode',
          episode: name,
          environment: name,
          task: { text },
          tags: [name],
          metadata: { text },
        },
        {
          type: 'step',
          episode: name,
          step: 0,
          observation: text,
          action: text,
          info: { text },
          model: name,
        },
        {
          type: 'step',
          episode: name,
          step: 1,
          messages: { input: [{ role: 'user', content: text }], output },
        },
        { type: 'reward', episode: name, name, value: 1, source: name, rationale: text },
        { type: 'end', episode: name, success: true, finalObservation: text },
      ]);
      await vi.waitFor(
        async () => {
          const sealed = await sql(
            `SELECT count() FROM episodes WHERE sealed AND run_id = '${ofTexts as string}'`,
          );
          expect(sealed).toEqual([[1]]);
        },
        { timeout: 120_000, interval: 200 },
      );
      await page.goto(`${url}/runs/${ofTexts as string}`);
      await page.getByText('Mean return').waitFor();
      expect(await browser.widthOnPhone()).toBe(PHONE_WIDTH);
      await page.goto(`${url}/runs/${ofTexts as string}/episodes`);
      await page.getByRole('row').nth(1).getByRole('link').first().click();
      await page.getByRole('list', { name: 'Messages of step 1' }).waitFor();
      for (const closed of ['Task', 'Metadata', 'Info', 'Reasoning'])
        await page.getByText(closed, { exact: true }).click();
      expect(await browser.widthOnPhone()).toBe(PHONE_WIDTH);
      // The height of the page is that of its parts, not of 200,000 characters in lines of 40: 100,000 pixels each.
      expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(20_000);
      expect(browser.complaints).toEqual([]);
    });

    it('shows which episodes are stored poorer, and why one was abandoned', async () => {
      const { page } = browser;
      const reason = 'made storable: usage.inputTokens: an impossible value was left out';
      const episode = 'customer-3';
      await post(`/api/runs/${runId}/records`, [
        { type: 'episode', episode },
        { type: 'step', episode, step: 0, action: 'wait', untrainable: reason },
        { type: 'end', episode, endReason: 'abandoned', detail: 'a call of it found no room' },
      ]);
      await vi.waitFor(
        async () => {
          for (const filter of ['poorer=true', 'endReason=abandoned']) {
            const listed = await fetch(`${url}/api/runs/${runId}/episodes?${filter}`);
            const { items } = (await listed.json()) as { items: { externalId: string }[] };
            expect(items.map(({ externalId }) => externalId)).toEqual([episode]);
          }
        },
        { timeout: 120_000, interval: 200 },
      );
      await page.goto(`${url}/runs/${runId}/episodes?poorer=true`);
      await expect.poll(() => page.getByRole('row').count()).toBe(2);
      await page.getByRole('row').nth(1).getByRole('link').first().click();
      await page.getByText('1 step stored poorer').waitFor();
      await page.getByText('a call of it found no room').waitFor();
      await page.getByText(`no token ids; ${reason}`).waitFor();
      expect(browser.complaints).toEqual([]);
    });
  });
});
