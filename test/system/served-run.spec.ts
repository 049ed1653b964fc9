import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { CheckpointFiles, openPolicyCheckpoint, evaluateLogprobs } from '@retrace/policy';
import { openBackend } from '@retrace/compute';
import { ControlTail, WarningLog } from '@retrace/log';
import { openLmdbLog } from '@retrace/log/lmdb';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Replay } from '../../apps/api/src/replays/replays.dto.js';
import { findBrowser } from '../../scripts/find-browser.mjs';
import { makeDataDirectory, root, runRetrace, startRetrace } from '../support/cli.mjs';
import { DashboardBrowser, PHONE_WIDTH } from '../support/dashboard-browser.mjs';
import { replayContexts, type Step } from '../support/step-contexts.js';

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
    'updateTokens=true',
  ].flatMap((assignment) => ['--set', assignment]),
];

const found = findBrowser();
const noBrowser = 'unavailable' in found ? ` (skipped, because ${found.unavailable})` : '';

describe('a run whose collector and trainer work at the same time', () => {
  const data = makeDataDirectory();
  let server: ReturnType<typeof startRetrace>;
  let url = '';

  beforeAll(async () => {
    server = startRetrace(['up', ...run, '--port', '0', '--data-dir', data.path]);
    url = await server.untilServing(110_000);
    await server.waitFor(/the run has finished/, 110_000);
    await openBackend();
  });

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
    const { batch, actionMask, logprobs, versions } = replayContexts(steps);
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

  it('answers a coding agent over the Model Context Protocol', async () => {
    const client = new Client({ name: 'test', version: '1' });
    const args = [join(root, 'apps/cli/bin/retrace.mjs'), 'mcp', '--data-dir', data.path];
    await client.connect(new StdioClientTransport({ command: process.execPath, args }));
    const { tools } = await client.listTools();
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
    const call = async (name: string, given: Record<string, unknown>) => {
      const { content, isError } = await client.callTool({ name, arguments: given });
      const [part] = content;
      return { isError: isError === true, text: part.type === 'text' ? part.text : '' };
    };
    const read = async <T>(name: string, given: Record<string, unknown>) =>
      JSON.parse((await call(name, given)).text) as T;
    const inputs = await read<{ items: { share: number }[] }>('list_update_episodes', {
      ...{ runId: 'latest', updateNumber: 2, sort: 'share', order: 'descending', limit: 3 },
    });
    const [first, ...rest] = inputs.items;
    expect(rest.map(({ share }) => share <= first.share)).toEqual([true, true]);
    const query = 'SELECT max(update_number) FROM updates';
    expect(await read('run_sql', { query })).toMatchObject({ rows: [[5]] });
    const { result } = await read<Replay>('replay_update', { runId: 'latest', updateNumber: 2 });
    expect(result).toMatchObject({ lossDifference: 0, sameWeights: true, sameTokens: true });
    const unknown = await call('get_update', { runId: 'latest', updateNumber: 99 });
    expect(unknown).toMatchObject({ isError: true, text: expect.stringMatching(/^NOT_FOUND: /) as string });
    const refused = await call('run_sql', { query: 'DROP TABLE events' });
    expect(refused).toEqual({ isError: true, text: 'SQL_REFUSED: Only SELECT is allowed, not DROP' });
    await client.close();
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
    });

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

    it('shows the newest warnings of a run with how often they came, and the earlier ones when asked', async () => {
      const { page } = browser;
      const [runId = ''] = /[0-9a-f-]{36}$/.exec(page.url()) ?? [];
      const log = await openLmdbLog({ path: join(data.path, 'log'), createdBy: 'test' });
      const control = new ControlTail(log);
      const warnings = new WarningLog({ control, runId });
      warnings.raise({
        source: 'collector',
        step: 1,
        message: 'environment "bandit" failed: reset threw "no"',
      });
      warnings.raise({
        source: 'collector',
        step: 2,
        message: 'environment "bandit" failed: reset threw "no"',
      });
      warnings.raise({ source: 'store', message: 'the disk has 2 GiB left' });
      warnings.raise({ source: 'trainer', step: 3, severity: 'alarm', message: 'nothing was trained' });
      await warnings.flush();
      control.close();
      await log.close();

      const stored = async () => (await sql(`SELECT message FROM warnings WHERE run_id = '${runId}'`)).length;
      await vi.waitFor(async () => expect(await stored()).toBe(4), { timeout: 120_000, interval: 200 });
      // The page of an ended run asks once.
      await page.reload();
      const panel = page.getByRole('region', { name: 'Warnings' });
      await panel.getByText('trainer: update 3: nothing was trained').waitFor();
      expect(await panel.getByRole('listitem').count()).toBe(3);
      expect(await panel.getByText('alarm', { exact: true }).count()).toBe(1);
      const repeated = 'collector: round 2: environment "bandit" failed: reset threw "no" (2 times so far)';
      expect(await panel.getByText(repeated).count()).toBe(1);
      await panel.getByRole('button', { name: 'Show earlier warnings' }).click();
      await panel.getByText('collector: round 1: environment').waitFor();
      expect(await panel.getByRole('listitem').count()).toBe(4);

      // Of all runs, only alarms.
      await page.getByRole('link', { name: 'Alarms' }).click();
      await page.getByRole('cell', { name: 'nothing was trained' }).waitFor();
      expect(await page.getByRole('row').count()).toBe(2);
      await page.getByRole('row').getByRole('link', { name: 'memory-bandit-grpo' }).click();
      await panel.waitFor();
    });

    it('acknowledges an alarm and silences its rule, until that is ended, and shows the state of then', async () => {
      const { page } = browser;
      const run = page.url();
      const [runOfAlarm] = /[0-9a-f-]{36}/.exec(run) ?? [''];
      await page.getByRole('link', { name: 'Alarms' }).click();
      const alarms = page.getByRole('region', { name: 'Alarms' });
      await alarms.getByText('Open', { exact: true }).waitFor();
      await alarms
        .getByRole('button', {
          name: `Acknowledge alarm of memory-bandit-grpo (${runOfAlarm.slice(-8)}) by trainer`,
        })
        .click();
      const acknowledge = page.getByRole('dialog', { name: 'Acknowledge alarm' });
      await acknowledge.getByLabel('Note').fill('a test');
      await acknowledge.getByRole('button', { name: 'Acknowledge' }).click();
      await alarms.getByText('by dashboard: a test').waitFor();
      const beforeSilence = new Date().toISOString();
      // The button that opened the dialog is gone.
      await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Silence …');
      await page.keyboard.press('Enter');
      const silence = page.getByRole('dialog', { name: 'Silence alarm' });
      await silence.getByLabel('For how long').selectOption('1 day');
      await silence.getByLabel('Where').selectOption('in all runs');
      await silence.getByLabel('Reason').fill('a longer test');
      expect(await browser.accessibilityFaults()).toEqual([]);
      await silence.getByRole('button', { name: 'Silence' }).click();
      await alarms.getByText('Silenced', { exact: true }).waitFor();
      const silences = page.getByRole('region', { name: 'Silenced rules' });
      await silences.getByRole('cell', { name: 'a longer test' }).waitFor();
      expect(await browser.accessibilityFaults()).toEqual([]);
      // The table of silences goes with its last row, and the focus stays where it was.
      await silences.getByRole('button', { name: 'End silence of alarm in all runs' }).press('Enter');
      await silences.waitFor({ state: 'detached' });
      await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('DIV');
      await alarms.getByText('Silenced', { exact: true }).waitFor({ state: 'detached' });
      await page.goto(`${url}/alarms?asOf=${beforeSilence}`);
      await alarms.getByText('Acknowledged', { exact: true }).waitFor();
      expect(await alarms.getByRole('button').count()).toBe(0);
      await page.goto(run);
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
        // Tokens far from the window are not in the page.
        await step.scrollIntoViewIfNeeded();
        const chips = step.getByRole('group', { name: `Tokens of step ${number}` }).getByRole('button');
        await expect.poll(() => chips.count()).toBe(token_ids.length);
        const text = (await step.innerText()).replaceAll('\u2212', '-');
        expect(text).toContain(observation);
        expect(Number(/reward\s+(-?[\d.]+)/i.exec(text)?.[1])).toBeCloseTo(reward, 2);
        await step.getByRole('button').last().hover();
        await step.getByText(`Policy version ${last}`, { exact: true }).last().waitFor();
      }
    });

    it('shows the members of a group side by side, and any episodes that are added by their ids', async () => {
      const { page } = browser;
      const [episodeId] = /[0-9a-f-]{36}$/.exec(page.url()) ?? [];
      const members = await sql<{ episode_id: string; return: number; actions: string[] }>(
        `SELECT episode_id, return, actions FROM episodes
         JOIN (SELECT episode_id, arrayMap(at -> at.2, arraySort(groupArray((step, action)))) AS actions FROM steps GROUP BY episode_id) AS acted USING (episode_id)
         WHERE group_id = (SELECT group_id FROM episodes WHERE episode_id = '${episodeId}') ORDER BY group_member`,
      );
      await page.getByRole('link', { name: 'side by side' }).click();
      const columns = page.getByRole('columnheader').getByRole('link');
      await expect
        .poll(() => columns.allInnerTexts())
        .toEqual(members.map((one) => one.episode_id.slice(-8)));
      const returns = await page
        .getByRole('row', { name: /^Return/ })
        .getByRole('cell')
        .allInnerTexts();
      returns.forEach((shown, i) => {
        expect(Number(shown.replace('\u2212', '-'))).toBeCloseTo(members[i].return, 2);
      });
      // All saw the same until one acted otherwise.
      const parting = members[0].actions.findIndex((action, step) =>
        members.some((member) => member.actions[step] !== action),
      );
      const first = await page.getByText('The first that differs').locator('..').innerText();
      expect(first).toContain(`Step ${parting}`);
      expect(await browser.accessibilityFaults()).toEqual([]);
      await columns.last().click();
      await page.getByRole('link', { name: 'Compare' }).click();
      await page.getByLabel('Add an episode by its id').fill(members[0].episode_id.slice(-8));
      await page.keyboard.press('Enter');
      await expect.poll(() => columns.count()).toBe(2);
      await page.goBack();
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

    it('sorts the result of a query by its headers, with empty values last, and back to its own order', async () => {
      const { page } = browser;
      await page.getByLabel('SQL query').fill('SELECT arrayJoin([9, NULL, 10]) AS x');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      const result = page.getByRole('region', { name: 'Query result' });
      const header = result.getByRole('columnheader', { name: 'x' });
      await header.waitFor();
      const orders: [string | null, string[]][] = [];
      for (let press = 0; press < 3; press++) {
        await header.getByRole('button').click();
        orders.push([await header.getAttribute('aria-sort'), await result.getByRole('cell').allInnerTexts()]);
      }
      expect(orders).toEqual([
        ['descending', ['10', '9', 'null']],
        ['ascending', ['9', '10', 'null']],
        ['none', ['9', 'null', '10']],
      ]);
    });

    it('draws the result of a ready-made query, and keeps query, chart and history over a reload', async () => {
      const { page } = browser;
      await page.getByText('Does it learn?').click();
      await page.getByRole('button', { name: 'Success of the last ten runs' }).click();
      await page.getByRole('radio', { name: 'Chart', exact: true }).click();
      const chart = page.getByRole('figure', { name: 'success by round' });
      await chart.waitFor();
      await page.getByLabel('A line for each').selectOption({ label: 'run' });
      const [{ run }] = await sql<{ run: string }>(
        "SELECT concat(name, ' ', substring(run_id, -8)) AS run FROM runs ORDER BY run_id LIMIT 1",
      );
      await chart.getByText(new RegExp(`^${run} `)).waitFor();
      await page.getByLabel('Name of the query').fill('of my runs');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      expect(await browser.accessibilityFaults()).toEqual([]);
      // Who opens the address sees the result.
      await page.reload();
      await chart.waitFor();
      const history = page.getByRole('region', { name: 'History' });
      await expect.poll(() => history.getByRole('listitem').count()).toBe(3);
      await history.getByRole('button', { name: /FROM episodes GROUP BY split/ }).click();
      await page.getByText('A chart needs a column').waitFor();
      await page.getByRole('button', { name: 'of my runs', exact: true }).click();
      await chart.waitFor();
      await page.getByRole('button', { name: 'Forget of my runs' }).click();
      expect(await page.getByRole('button', { name: 'of my runs', exact: true }).count()).toBe(0);
    });

    it('says that headers sort only the rows that are here where the query has more than the row limit', async () => {
      const { page } = browser;
      await page.getByRole('radio', { name: 'Table', exact: true }).click();
      const limit = page.getByLabel('Row limit');
      const before = await limit.inputValue();
      await limit.selectOption('100');
      await page.getByLabel('SQL query').fill('SELECT arrayJoin(range(101)) AS x');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByText('headers sort only the 100 rows that are here').waitFor();
      await limit.selectOption(before);
    });

    it('keeps a notebook of SQL and text, runs it after a reload, and explains its query', async () => {
      const { page } = browser;
      await page.getByRole('link', { name: 'Notebooks' }).click();
      await page.getByRole('button', { name: 'New notebook' }).click();
      await page.getByRole('button', { name: 'Add text' }).click();
      await page.getByLabel('Text of cell 2').fill('# Of the **newest** run');
      await page.getByLabel('Move cell 2 up').click();
      await page.keyboard.press('Control+s');
      await page.getByText(/^Revision 2, saved/).waitFor();
      const stored = 'SELECT title, revision, JSONLength(cells) AS cells FROM notebooks';
      expect(await sql(stored)).toEqual([{ title: 'New notebook', revision: 2, cells: 2 }]);
      await page.reload();
      await page.getByRole('heading', { name: 'Of the newest run' }).waitFor();
      await page.getByRole('button', { name: 'Run all' }).click();
      await page.getByRole('figure', { name: 'success_rate by policy_version' }).waitFor();
      expect(await browser.accessibilityFaults()).toEqual([]);
      await page.getByRole('button', { name: 'Explain' }).click();
      await page
        .getByRole('region', { name: 'Plan of the query' })
        .getByText(/^Reads .* of events/)
        .waitFor();
      expect(await browser.accessibilityFaults()).toEqual([]);
    });

    it('shows the charts and columns of the run’s algorithm: groups for GRPO, and nothing of a critic', async () => {
      const { page } = browser;
      await page.goto(`${url}/live`);
      await page
        .getByRole('figure', { name: 'Groups' })
        .getByText(/^Equal returns \d+$/)
        .waitFor();
      const loss = page.getByRole('figure', { name: 'Loss' });
      expect((await loss.getByRole('listitem').allInnerTexts()).map((text) => text.split(/\s/)[0])).toEqual([
        'Total',
        'Policy',
      ]);
      expect(await page.getByRole('figure', { name: 'Explained variance' }).count()).toBe(0);
      await page.getByRole('link', { name: 'Updates' }).click();
      await page.getByRole('columnheader', { name: 'Equal groups' }).waitFor();
      expect(await page.getByRole('columnheader', { name: 'Value loss' }).count()).toBe(0);
    });

    it.each([
      ['a desktop', 1280],
      ['a phone', 390],
    ])('draws every tick and baseline label inside its chart at the width of %s', async (_, width) => {
      const { page } = browser;
      // As if the last update was number 10,000, so that the last tick is at the right edge of every plot,
      // and with values of the learning rate whose ticks need six digits and an exponent.
      await page.route('**/metrics?*', async (route) => {
        const response = await route.fetch();
        const { series } = (await response.json()) as {
          series: { name: string; steps: number[]; values: number[] }[];
        };
        const json = {
          series: series.map((one) => ({
            ...one,
            steps: one.steps.map((step) => step * 2000),
            values:
              one.name === 'train/learningRate' ? one.values.map((_, i) => 2.384e-7 + i * 1e-12) : one.values,
          })),
        };
        await route.fulfill({ response, json });
      });
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${url}/live`);
      await page.getByRole('figure', { name: 'Learning rate' }).waitFor();
      await page.getByRole('radio', { name: 'Updates' }).focus();
      await page.keyboard.press('ArrowRight');
      await page.getByRole('radio', { name: 'Time', checked: true }).waitFor();
      const { texts, cutTexts } = await browser.drawn();
      expect(texts).toContain('10k');
      expect(cutTexts).toEqual([]);
      await page.unroute('**/metrics?*');
    });

    const accessible = 'has no accessibility fault on any page with the %s theme, %i pixels wide';
    it.each([['light', 1280]] as const)(accessible, hasNoFault);
    it.each([['dark', 390]] as const)(accessible, { tags: 'release' }, hasNoFault);

    async function hasNoFault(colorScheme: 'light' | 'dark', width: number): Promise<void> {
      const { page } = browser;
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await page.goto(`${url}/live`);
      await page.getByRole('figure', { name: 'Learning rate' }).waitFor();
      const run = page.url();
      const faults: Record<string, string[]> = { overview: await browser.accessibilityFaults() };
      for (const [address, ready] of [
        [url, page.getByRole('table')],
        [`${url}/alarms`, page.getByRole('table')],
        [`${run}/episodes`, page.getByRole('table')],
        [`${run}/episodes?success=true&update=1000`, page.getByRole('heading', { name: 'No episodes' })],
        [`${run}/updates`, page.getByRole('table')],
        [`${run}/updates/1`, page.getByRole('table').first()],
        [`${run}/recipe`, page.getByRole('table')],
        [`${url}/nothing`, page.getByRole('heading', { name: 'Page not found' })],
      ] as const) {
        await page.goto(address);
        await ready.waitFor();
        faults[address] = await browser.accessibilityFaults();
      }
      await page.goto(`${run}/episodes`);
      await page.getByRole('row').nth(1).getByRole('link').first().click();
      await page.getByRole('heading', { name: 'Step 7' }).waitFor();
      faults.episode = await browser.accessibilityFaults();
      await page.goto(
        `${url}/sql?query=${encodeURIComponent("SELECT 1 AS n, NULL AS nothing, 'text' AS t")}`,
      );
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByRole('region', { name: 'Query result' }).waitFor();
      await page.getByText('dead_letters').waitFor();
      faults.sql = await browser.accessibilityFaults();
      expect(Object.entries(faults).filter(([, found]) => found.length > 0)).toEqual([]);
    }

    it('goes from a point of a curve to its update, and on to the episodes that did most to the gradient', async () => {
      const { page } = browser;
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.goto(`${url}/live`);
      const chart = page.getByRole('figure', { name: 'Learning rate' });
      await expect.poll(() => chart.locator('figcaption b').first().innerText()).toMatch(/\d/);
      await chart.locator('.u-over').click();
      await page.getByRole('heading', { name: /^Update [1-5]$/ }).waitFor();
      const episodes = page.getByRole('region', { name: /^Episodes that fed update/ });
      const shares = () => episodes.locator('tbody tr td:nth-child(3)').allInnerTexts();
      const asNumbers = (texts: readonly string[]) => texts.map((text) => Number.parseFloat(text));
      await episodes.getByRole('columnheader', { name: 'Share', exact: false }).waitFor();
      const first = asNumbers(await shares());
      expect(first.length).toBeGreaterThan(8);
      expect(first).toEqual([...first].sort((a, b) => b - a));
      await episodes.getByRole('button', { name: 'Share' }).click();
      await expect.poll(async () => asNumbers(await shares())).toEqual(first.toReversed());
      await page.getByRole('radio', { name: 'Failed' }).click();
      await page.waitForURL(/order=ascending&success=false/);
      await expect.poll(() => episodes.getByText('Success', { exact: true }).count()).toBe(1);
      await page.getByText(/^All \d+ metrics$/).click();
      await page.getByRole('link', { name: 'train/gradientNorm' }).waitFor();
      await episodes.getByRole('button', { name: 'Share' }).focus();
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('Tab');
      await page
        .getByRole('tooltip')
        .getByText(/how much of the gradient/)
        .waitFor();
      expect(await browser.accessibilityFaults()).toEqual([]);
      await page
        .getByRole('link', { name: /^← \d|\d →$/ })
        .first()
        .click();
      await page.waitForURL(/success=false/);
      await page.getByRole('radio', { name: 'All', exact: true }).click();
      const lineage = page.getByRole('navigation', { name: 'Lineage' });
      expect(await lineage.getByRole('listitem').count()).toBeGreaterThan(2);
      await episodes.getByRole('link').first().click();
      await page.getByRole('heading', { name: 'Step 0' }).waitFor();
      const colors = page.getByRole('radiogroup', { name: 'Color tokens by' });
      await colors.getByRole('radio', { name: 'Advantage', checked: true }).waitFor();
      expect(await browser.accessibilityFaults()).toEqual([]);
      await page.getByLabel('as trained by').selectOption({ label: 'no update' });
      await expect.poll(() => new URL(page.url()).searchParams.has('update')).toBe(false);
    });

    it('shows every page as of an update, or of any time of the run, and as it is again by the back button', async () => {
      const { page } = browser;
      const commits = () =>
        page
          .locator('tbody tr')
          .evaluateAll((rows) => rows.filter((row) => !row.textContent.includes('planned')).length);
      await page.goto(`${url}/live`);
      await page.getByRole('link', { name: 'Updates', exact: true }).click();
      await expect.poll(commits).toBe(5);
      await page.getByRole('link', { name: '2', exact: true }).click();
      await page.getByRole('link', { name: 'As of this update' }).click();
      await page.getByText(/^As of \d{4}-/).waitFor();
      await page.getByRole('link', { name: 'Updates', exact: true }).click();
      await expect.poll(commits).toBe(2);
      expect(await browser.accessibilityFaults()).toEqual([]);
      await page.reload();
      await expect.poll(commits).toBe(2);
      const slider = page.getByRole('slider', { name: /^Time of the run/ });
      await slider.press('End');
      await expect.poll(commits).toBe(5);
      await slider.press('Home');
      await expect.poll(commits).toBe(0);
      await page.getByRole('link', { name: 'SQL', exact: true }).click();
      await page.getByLabel('SQL query').fill('SELECT count() AS n FROM steps');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByRole('cell', { name: '0', exact: true }).first().waitFor();
      await page.getByLabel('SQL query').fill('SELECT 1 + 1, count() AS n FROM steps');
      await page.getByLabel('Time or event').fill('yesterday');
      await page.getByLabel('Time or event').press('Enter');
      await page.getByRole('alert').waitFor();
      // The refusal, once as a response and once in the console.
      expect(browser.complaints.splice(0).filter((complaint) => !complaint.includes('400'))).toEqual([]);
      const commit = `${await sql<{ id: string }>('SELECT max(run_id) AS id FROM runs').then(([{ id }]) => id)}@5`;
      await page.getByLabel('Time or event').fill(commit);
      await page.getByLabel('Time or event').press('Enter');
      await page.waitForURL(/asOf=2\d{3}-/);
      await page.getByLabel('Time or event').fill('2100-01-01 00:00');
      await page.getByLabel('Time or event').press('Enter');
      await expect.poll(() => page.getByRole('cell').allInnerTexts()).not.toContain('0');
      expect(await page.getByLabel('SQL query').innerText()).toContain('1 + 1');
      expect(new URL(page.url()).searchParams.get('asOf')).toMatch(/^2(099-12-31|100-01-01)T/);
      await page.goBack();
      await page.getByRole('button', { name: 'Back to now' }).click();
      await expect.poll(commits).toBe(5);
      await page.goBack();
      await page.getByText(/^As of \d{4}-/).waitFor();
    });

    it('replays an update by the button on its page, to the same bits', async () => {
      const { page } = browser;
      await page.goto(`${url}/live`);
      await page.getByRole('link', { name: 'Updates', exact: true }).click();
      await page.getByRole('row').nth(1).getByRole('link').first().click();
      await page.getByRole('button', { name: 'Replay' }).click();
      await page.getByText(/^Same loss.* and (weights|tokens), bit for bit$/).waitFor();
      expect(await page.getByRole('region', { name: 'Metrics that differ' }).count()).toBe(0);
      expect(await browser.accessibilityFaults()).toEqual([]);
    });

    it(
      'compares an update with what it would have been, from its page, and shows every token side by side',
      { tags: 'release' },
      async () => {
        const { page } = browser;
        await page.setViewportSize({ width: 1280, height: 900 });
        await page.goto(`${url}/live`);
        await page.getByRole('link', { name: 'Updates', exact: true }).click();
        await page.getByRole('row').nth(1).getByRole('link').first().click();
        await page.getByRole('link', { name: 'What if …' }).click();
        expect(await page.getByLabel('Update', { exact: true }).inputValue()).toBe('5');
        expect(await browser.accessibilityFaults()).toEqual([]);
        await page.getByLabel('Other fields of the recipe').fill('loss.clipLow=0.001\nloss.clipHigh=0.001');
        await page.getByLabel('Every token').check();
        await page.getByRole('button', { name: 'Compare' }).click();
        await page
          .getByRole('heading', { name: 'Update 5, with loss.clipLow=0.001, loss.clipHigh=0.001' })
          .waitFor();
        await page.getByText('finished', { exact: true }).waitFor();
        const rowsOf = (name: string) => page.getByRole('region', { name }).getByRole('row');
        expect(await rowsOf('Updates, recorded and changed').count()).toBe(2);
        expect(await rowsOf('Gradient of update 5 by layer').nth(1).innerText()).toMatch(/^all\s/);
        expect(await rowsOf('Metrics of update 5').filter({ hasText: 'train/clipFraction' }).count()).toBe(1);
        expect(await rowsOf('Episodes of update 5').count()).toBeGreaterThan(8);
        expect(await rowsOf('Tokens, recorded and changed').count()).toBeGreaterThan(8);
        expect(await browser.accessibilityFaults()).toEqual([]);
        await page.getByRole('link', { name: 'Ask another' }).click();
        await page.getByRole('region', { name: 'What-ifs' }).getByText('finished').waitFor();
        expect(await browser.accessibilityFaults()).toEqual([]);
      },
    );

    it('cancels a comparison by its button', { tags: 'release' }, async () => {
      const { page } = browser;
      await page.getByLabel('Update', { exact: true }).fill('1');
      await page.getByLabel('up to').fill('5');
      await page.getByLabel('Other fields of the recipe').fill('loss.clipLow=0.01');
      await page.getByRole('button', { name: 'Compare' }).click();
      await page.getByRole('heading', { name: 'Update 1–5, with loss.clipLow=0.01' }).waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByText('cancelled', { exact: true }).waitFor();
      expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
      expect(await browser.accessibilityFaults()).toEqual([]);
    });

    it('starts a run, queues another and cancels it, and stops and resumes the run', async () => {
      const { page } = browser;
      const start = async (seed: string) => {
        await page.goto(url);
        await page.getByRole('button', { name: 'Start a run' }).click();
        await page.getByRole('combobox', { name: /^Recipe/ }).selectOption('bandit-ppo');
        await page.getByLabel('Updates').fill('100000');
        await page.getByLabel('Seed').fill(seed);
        await page.getByLabel('Other fields of the recipe').fill('evaluation.everyUpdates=0');
        expect(await browser.accessibilityFaults()).toEqual([]);
        await page.getByRole('button', { name: 'Start', exact: true }).click();
        await page.getByRole('dialog').waitFor({ state: 'hidden' });
      };
      await start('31');
      await page.getByRole('link', { name: 'bandit-ppo' }).waitFor();
      await start('32');
      const queue = page.getByRole('region', { name: 'Queue' });
      expect(await queue.getByRole('listitem').innerText()).toMatch(/^bandit-ppo 100,000 updates, seed 32, /);
      expect(await browser.accessibilityFaults()).toEqual([]);
      await queue.getByRole('button', { name: 'Cancel bandit-ppo' }).click();
      await queue.waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'memory-bandit-grpo' }).click();
      const fork = page.getByRole('button', { name: 'Fork' });
      await fork.click();
      const dialog = page.getByRole('dialog', { name: 'Fork' });
      const closings = [() => page.keyboard.press('Escape'), () => page.mouse.click(5, 5)];
      for (const close of closings) {
        await dialog.waitFor();
        await close();
        await dialog.waitFor({ state: 'detached' });
        await expect
          .poll(() => fork.evaluate((button) => button.ownerDocument.activeElement === button))
          .toBe(true);
        await fork.click();
      }
      const version = page.getByLabel('Policy version');
      expect(await version.inputValue()).toBe('');
      await version.fill('3');
      expect(await browser.accessibilityFaults()).toEqual([]);
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      const forked = /^memory-bandit-grpo from run:[\da-f-]{36}@3Cancel$/;
      await expect
        .poll(() => queue.getByRole('listitem').allInnerTexts())
        .toEqual([expect.stringMatching(forked)]);
      await queue.getByRole('button', { name: 'Cancel memory-bandit-grpo' }).click();
      await queue.waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'bandit-ppo' }).click();
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByRole('button', { name: 'Resume' }).waitFor();
    });

    it('finds runs by words and status, sorts them, keeps that in the address, and hides a column in this browser', async () => {
      const { page } = browser;
      const table = page.getByRole('region', { name: 'Runs' });
      const names = async () => (await table.getByRole('link').allInnerTexts()).toSorted();
      await page.goto(`${url}/runs?search=BANDIT%20grpo`);
      await expect.poll(names).toEqual(['memory-bandit-grpo']);
      await page.getByLabel('Search').fill('no run is named so');
      await page.getByLabel('Search').press('Enter');
      await page.getByText('No run matches these filters.').waitFor();
      await page.getByLabel('Search').fill('');
      await page.getByLabel('Search').press('Enter');
      await page.getByLabel('Status').selectOption('finished');
      await expect.poll(names).toEqual(['memory-bandit-grpo']);
      await page.getByLabel('Status').selectOption('');
      await table.getByRole('cell', { name: /^[\d,]+ of 100,000\b/ }).waitFor();
      await page.getByRole('button', { name: 'Rollout' }).click();
      await page.locator('th[aria-sort="descending"]', { hasText: 'Rollout' }).waitFor();
      await expect.poll(names).toEqual(['bandit-ppo', 'memory-bandit-grpo']);
      // Rows that are about to be replaced are dim.
      await expect.poll(() => table.evaluate((frame) => getComputedStyle(frame).opacity)).toBe('1');
      await page.getByRole('button', { name: 'Columns' }).click();
      await page.getByRole('menuitemcheckbox', { name: 'Seed' }).click();
      expect(await browser.accessibilityFaults()).toEqual([]);
      await page.reload();
      await page.locator('th[aria-sort="descending"]', { hasText: 'Rollout' }).waitFor();
      await page.getByRole('button', { name: /^Columns: \d+ of \d+$/ }).waitFor();
      expect(await page.getByRole('columnheader', { name: 'Seed' }).count()).toBe(0);
    });

    it('keeps a star, tags, notes and the archive of a run', { tags: 'release' }, async () => {
      const { page } = browser;
      const table = page.getByRole('region', { name: 'Runs' });
      const names = async () => (await table.getByRole('link').allInnerTexts()).toSorted();
      const name = 'memory-bandit-grpo';
      await page.goto(url);
      await page.getByRole('button', { name: `Star ${name}` }).click();
      await page.getByRole('button', { name: `Star ${name}`, pressed: true }).waitFor();
      await page.getByRole('combobox', { name: 'Star' }).selectOption('true');
      await expect.poll(names).toEqual([name]);
      await table.getByRole('link', { name }).click();
      await page.getByRole('button', { name: 'Add tags or notes' }).click();
      await page.getByLabel('Tags').fill('paper, best');
      await page.getByLabel('Notes').fill('Remembers.');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Remembers.').waitFor();
      await page.getByRole('button', { name: 'Archive', exact: true }).click();
      await page.getByRole('button', { name: 'Take out of archive' }).waitFor();
      expect(await browser.accessibilityFaults()).toEqual([]);
      const query = 'SELECT tags, notes, starred, archived FROM runs WHERE starred';
      const stored = { tags: ['paper', 'best'], notes: 'Remembers.', starred: true, archived: true };
      await expect.poll(() => sql(query)).toEqual([stored]);
      await page.goto(`${url}/runs`);
      await expect.poll(names).toEqual(['bandit-ppo']);
      await page.getByLabel('Archived').selectOption('only');
      await expect.poll(names).toEqual([name]);
      await table.getByRole('link', { name }).click();
      await page.getByRole('button', { name: 'Take out of archive' }).click();
      await page.getByRole('button', { name: 'Archive', exact: true }).waitFor();
      await expect.poll(() => sql(query)).toEqual([{ ...stored, archived: false }]);
    });

    it('lays every metric of a run over that of another, finds it by words, and saves what it shows', async () => {
      const { page } = browser;
      const response = await fetch(`${url}/api/runs`);
      const { items } = (await response.json()) as { items: { runId: string; name: string }[] };
      const [own, other] = ['memory-bandit-grpo', 'bandit-ppo'].map(
        (wanted) => items.find(({ name }) => name === wanted)?.runId ?? '',
      );
      await page.goto(`${url}/runs/${own}`);
      await page.getByRole('link', { name: 'Metrics' }).click();
      await page.getByRole('figure', { name: 'rollout/success' }).waitFor();
      await page.getByLabel('Find').pressSequentially('LOSS train');
      const chart = page.getByRole('figure', { name: 'train/loss', exact: true });
      await chart.waitFor();
      const titles = () =>
        page.getByRole('figure').evaluateAll((figures) => figures.map(({ ariaLabel }) => ariaLabel ?? ''));
      const others = async () => (await titles()).filter((title) => !/^train\/.*loss/i.test(title));
      await expect.poll(others).toEqual([]);
      expect(await titles()).toContain('train/policyLoss');
      await page.getByLabel('Compare with').selectOption(other);
      const line = chart.getByText(new RegExp(`^bandit-ppo ${other.slice(-8)} `));
      await line.waitFor();
      const results = page.getByRole('region', { name: 'Results' }).getByRole('row');
      await expect.poll(() => results.allInnerTexts()).toHaveLength(3);
      // Of two recipes there is no mean.
      await page.getByLabel('Mean of seeds').check();
      expect(await results.count()).toBe(3);
      expect(await browser.accessibilityFaults()).toEqual([]);

      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        chart.getByRole('button', { name: 'Save train/loss as CSV' }).click(),
      ]);
      const [header, ...rows] = readFileSync(await saved.path(), 'utf8')
        .trim()
        .split('\r\n');
      expect(header).toBe(`update,memory-bandit-grpo ${own.slice(-8)},bandit-ppo ${other.slice(-8)}`);
      const stored = await sql<{ step: number; value: number }>(
        `SELECT step, value FROM metrics WHERE run_id = '${own}' AND name = 'train/loss' ORDER BY step`,
      );
      const ofOwn = rows.map((row) => row.split(',')).filter(([, value]) => value !== '');
      expect(ofOwn.map(([step, value]) => [Number(step), Number(value)])).toEqual(
        stored.map(({ step, value }) => [step, value]),
      );
      await page.reload();
      await line.waitFor();
    });

    it('draws a metric by SQL, pins charts, keeps the view as a layout, and counts in tokens', async () => {
      const { page } = browser;
      const [{ runId }] = await sql<{ runId: string }>(
        "SELECT run_id AS runId FROM runs WHERE name = 'memory-bandit-grpo'",
      );
      await page.goto(`${url}/runs/${runId}/metrics`);
      const draw = async (name: string, query: string) => {
        await page.getByRole('button', { name: 'Metric by SQL' }).click();
        await page.getByLabel('Name', { exact: true }).fill(name);
        await page.getByLabel('Query').fill(query);
        await page.getByRole('button', { name: 'Draw' }).click();
      };
      const select = 'SELECT update_number AS x, num_episodes';
      await draw('batch', `${select} AS value FROM updates WHERE run_id = {run}`);
      const chart = page.getByRole('figure', { name: 'sql/batch' });
      const [{ last }] = await sql<{ last: number }>(
        `SELECT argMax(num_episodes, update_number) AS last FROM updates WHERE run_id = '${runId}'`,
      );
      const newest = chart.getByRole('listitem').getByText(`${last}`, { exact: true });
      await newest.waitFor();
      await draw('wrong', `${select} FROM updates WHERE run_id = {run}`);
      await page.getByRole('alert').getByText('it gives x, num_episodes.').waitFor();
      expect(await browser.accessibilityFaults()).toEqual([]);
      await page.getByRole('button', { name: 'Remove wrong' }).click();

      await page.getByRole('button', { name: 'Pin sql/batch' }).click();
      await page.getByRole('radio', { name: 'Tokens', exact: true }).click();
      await page.getByRole('button', { name: 'Save layout' }).click();
      await page.getByLabel('Name of the layout').fill('sizes');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      const layout = page.getByRole('combobox', { name: 'Layout' });
      await expect.poll(() => layout.inputValue()).toBe('sizes');
      await page.goto(`${url}/runs/${runId}/metrics`);
      await layout.selectOption('sizes');
      await newest.waitFor();
      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        chart.getByRole('button', { name: 'Save sql/batch as CSV' }).click(),
      ]);
      const lines = readFileSync(await saved.path(), 'utf8')
        .trim()
        .split('\r\n');
      const [{ tokens }] = await sql<{ tokens: number }>(
        `SELECT sum(value) AS tokens FROM metrics WHERE run_id = '${runId}' AND name = 'train/numActionTokens'`,
      );
      expect(lines[0]).toMatch(/^tokens trained on,/);
      expect(lines.at(-1)).toBe(`${tokens},${last}`);

      await page.goto(`${url}/runs/${runId}`);
      await page
        .getByRole('region', { name: 'Pinned charts' })
        .getByRole('figure', { name: 'sql/batch' })
        .waitFor();
      expect(await browser.accessibilityFaults()).toEqual([]);
      await page.getByRole('button', { name: 'Unpin sql/batch' }).click();
    });

    it('runs a query that came with a link only when it is told to, and keeps nothing of the link', async () => {
      const { page } = browser;
      const query = 'SELECT 1 AS x, 43 AS value FROM runs LIMIT 1';
      const [{ runId }] = await sql<{ runId: string }>(
        "SELECT run_id AS runId FROM runs WHERE name = 'memory-bandit-grpo'",
      );
      const asked: string[] = [];
      page.on('request', (request) => {
        if (request.postData()?.includes('43 AS value') === true) asked.push(request.url());
      });
      const link = new URLSearchParams({ metric: 'linked', sql: query }).toString();
      await page.goto(`${url}/runs/${runId}/metrics?${link}`);
      await page.getByText('This query came with the link.').waitFor();
      await page.getByRole('figure', { name: 'sql/linked' }).waitFor();
      expect(await browser.accessibilityFaults()).toEqual([]);
      expect(asked).toEqual([]);
      await page.getByRole('button', { name: 'Run linked' }).click();
      await page
        .getByRole('figure', { name: 'sql/linked' })
        .getByRole('listitem')
        .getByText('43', { exact: true })
        .waitFor();
      expect(asked).not.toEqual([]);
      await page.getByRole('button', { name: 'My own view' }).click();
      await page.getByRole('figure', { name: 'sql/linked' }).waitFor({ state: 'detached' });
      await page.reload();
      await page.getByRole('button', { name: 'Metric by SQL' }).waitFor();
      expect(await page.getByRole('figure', { name: 'sql/linked' }).count()).toBe(0);
    });

    it(
      'holds a reward version against success, and against another, on the page of rewards',
      { tags: 'release' },
      async () => {
        const { page } = browser;
        const [{ runId, recipe }] = await sql<{ runId: string; recipe: string }>(
          "SELECT run_id AS runId, recipe FROM runs WHERE name = 'memory-bandit-grpo'",
        );
        await page.goto(`${url}/runs/${runId}`);
        await page.getByRole('link', { name: 'Rewards' }).click();
        await page.getByRole('heading', { name: 'Not scored yet' }).waitFor();
        expect(await browser.accessibilityFaults()).toEqual([]);
        const turned = join(data.path, 'turned.json');
        const reward = {
          ...{ allocation: 'perStep', allocationGamma: 1 },
          components: [{ reward: 'goal', weight: -1 }],
        };
        writeFileSync(turned, JSON.stringify({ ...(JSON.parse(recipe) as object), reward }));
        for (const version of [['plain'], ['turned', '--recipe', turned]])
          expect(
            await runRetrace(['score', '--run', runId, '--data-dir', data.path, '--name', ...version]),
          ).toMatchObject({ code: 0 });
        await page.reload();
        await page.getByRole('combobox', { name: 'Version' }).selectOption('plain');
        const values = page.getByRole('region', { name: 'Values of the reward' });
        await values.getByRole('row').nth(1).getByText('total').waitFor();
        expect(await values.getByText('failures get more').count()).toBe(0);
        await page.getByRole('combobox', { name: 'Version' }).selectOption('turned');
        await values.getByText('failures get more').first().waitFor();
        await page.getByRole('combobox', { name: 'Against' }).selectOption('plain');
        await page.getByRole('heading', { name: 'turned against plain' }).waitFor();
        const compared = page.getByRole('region', { name: 'Values compared' }).getByRole('row').nth(1);
        expect(await compared.innerText()).toMatch(/^total\s.*\s−[\d.]+\s+−[\d.]+$/s);
        await page.reload();
        await compared.waitFor();
        expect(await browser.accessibilityFaults()).toEqual([]);
        expect(await browser.widthOnPhone()).toBeLessThanOrEqual(PHONE_WIDTH);
        await page
          .getByRole('region', { name: 'Failures with the highest totals' })
          .getByRole('link')
          .first()
          .click();
        await page.waitForURL(/\/episodes\/[0-9a-f-]{36}$/);
      },
    );

    it('goes through rows, steps and pages by keys, but not while one types', async () => {
      const { page } = browser;
      const [trained] = await sql<{ run_id: string }>(
        `SELECT run_id FROM runs WHERE name = 'memory-bandit-grpo'`,
      );
      await page.goto(`${url}/runs/${trained.run_id}`);
      await page.getByRole('heading', { level: 1, name: 'memory-bandit-grpo' }).waitFor();
      // On a busy machine the second key may come too late for a sequence.
      const pressUntilAt = async (keys: string, address: RegExp) => {
        const press = async () => {
          for (const key of keys) await page.keyboard.press(key);
          return page.url();
        };
        await expect.poll(press, { interval: 500, timeout: 20_000 }).toMatch(address);
      };
      await pressUntilAt('gu', /\/updates$/);
      await page.getByRole('link', { name: '5', exact: true }).waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Update 4' }).waitFor();
      await page.locator('a[rel="next"]').waitFor();
      await page.keyboard.press('[');
      await page.getByRole('heading', { name: 'Update 3' }).waitFor();
      const ofRun = `run_id = '${trained.run_id}'`;
      const [first, second] = await sql<{ episode_id: string }>(
        `SELECT episode_id FROM episodes WHERE ${ofRun}
           AND group_id = (SELECT group_id FROM episodes WHERE ${ofRun} ORDER BY episode_id LIMIT 1)
         ORDER BY group_member, episode_id LIMIT 2`,
      );
      await page.goto(`${url}/runs/${trained.run_id}/episodes/${first.episode_id}?color=entropy`);
      await page.locator('a[rel="next"]').waitFor();
      await page.keyboard.press(']');
      await page.getByText('member 1').waitFor();
      expect(page.url()).toContain(`${second.episode_id}?color=entropy`);
      await page.locator('a[rel="prev"]').waitFor();
      await page.keyboard.press('[');
      await page.getByText('member 0').waitFor();
      await pressUntilAt('ge', /\/episodes$/);
      await page.getByRole('table').waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('jg');
      expect(await page.getByLabel('Text').inputValue()).toBe('jg');
      await page.getByLabel('Text').fill('');
      await page.getByRole('heading', { level: 1 }).click();
      await page.keyboard.press('?');
      const help = page.getByRole('dialog', { name: 'Keyboard' });
      await help.getByText('Open the list of runs').waitFor();
      expect(await browser.accessibilityFaults()).toEqual([]);
      await page.keyboard.press('Escape');
      await help.waitFor({ state: 'detached' });
    });

    it('finds pages, runs and updates by its palette', async () => {
      const { page } = browser;
      await page.route(/command-palette.*\.js/, async (route) => {
        await sleep(500);
        await route.continue();
      });
      await page.keyboard.press('Control+k');
      // Keys that come before the palette does are not keys of the page.
      await page.keyboard.press('?');
      const palette = page.getByRole('dialog', { name: 'Commands' });
      const field = palette.getByRole('combobox');
      await field.waitFor();
      expect(await page.getByRole('dialog', { name: 'Keyboard' }).count()).toBe(0);
      await field.fill('memory-bandit');
      await palette.getByRole('group', { name: 'Runs', exact: true }).getByRole('option').first().waitFor();
      expect(await browser.accessibilityFaults()).toEqual([]);
      await field.fill('2');
      await palette.getByRole('option', { name: 'Update 2', exact: true }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Update 2' }).waitFor();
      await page.getByRole('button', { name: 'Commands' }).click();
      await field.fill('episodes');
      await palette.getByRole('option', { name: 'Episodes' }).first().click();
      await page.waitForURL(/\/episodes$/);
      await page.keyboard.press('Control+k');
      await field.waitFor();
      await page.keyboard.press('Control+k');
      await palette.waitFor({ state: 'detached' });
      await page.keyboard.press('Control+k');
      await field.waitFor();
      await page.keyboard.press('Escape');
      await palette.waitFor({ state: 'detached' });
      expect(page.url()).toMatch(/\/episodes$/);
    });

    it('puts a ready-made query of the palette into the editor, also where that is open', async () => {
      const { page } = browser;
      await page.getByRole('link', { name: 'SQL', exact: true }).click();
      const editor = page.getByLabel('SQL query');
      await editor.fill('SELECT 1');
      const title = 'Length of episodes over training';
      await page.keyboard.press('Control+k');
      const palette = page.getByRole('dialog', { name: 'Commands' });
      await palette.getByRole('combobox').fill(title);
      await palette.getByRole('option', { name: title }).click();
      await expect.poll(() => editor.innerText()).toMatch(/numSteps|num_steps/i);
    });

    it('shows a conversation with its tool calls and sub-agent as a tree, which arrow keys move in', async () => {
      const { page } = browser;
      const post = async (path: string, body: unknown): Promise<{ runId: string }> => {
        const headers = { 'content-type': 'application/json' };
        const response = await fetch(`${url}${path}`, {
          method: 'POST',
          headers,
          body: JSON.stringify(body),
        });
        expect(response.ok).toBe(true);
        return (await response.json()) as { runId: string };
      };
      const { runId } = await post('/api/runs', { name: 'agents' });
      const [main, called] = ['01a22900-0000-7000-8000-000000000001', '01a22900-0000-7000-8000-000000000002'];
      const toolCall = { id: 'c1', type: 'function', function: { name: 'research', arguments: '{}' } };
      const at = (second: number) => `2026-11-29T12:00:0${second}Z`;
      await post(`/api/runs/${runId}/records`, [
        { type: 'episode', episode: main, groupId: 'a&b', occurredAt: at(0) },
        {
          ...{ type: 'step', episode: main, step: 0, occurredAt: at(1) },
          messages: { input: [], output: { role: 'assistant', content: 'I ask.', tool_calls: [toolCall] } },
        },
        { type: 'episode', episode: called, agent: 'helper', parentEpisode: main, occurredAt: at(2) },
        { type: 'step', episode: called, step: 0, occurredAt: at(3), action: 'look', reward: 0.5 },
        { type: 'end', episode: called, success: true, occurredAt: at(4) },
        {
          ...{ type: 'step', episode: main, step: 1, occurredAt: at(5) },
          messages: {
            input: [{ role: 'tool', tool_call_id: 'c1', content: 'Three shops.' }],
            output: { role: 'assistant', content: 'Three.' },
          },
        },
        { type: 'end', episode: main, success: true, occurredAt: at(6) },
      ]);
      const stored = async () =>
        (await sql(`SELECT 1 FROM episodes WHERE run_id = '${runId}' AND sealed`)).length;
      await vi.waitFor(async () => expect(await stored()).toBe(2), { timeout: 120_000, interval: 200 });
      await page.goto(`${url}/runs/${runId}/episodes/${main}`);
      const tree = page.getByRole('tree', { name: 'Conversation' });
      const nodes = async () => (await tree.getByRole('treeitem').allInnerTexts()).map((text) => text.trim());
      await tree.getByText('Agent helper').waitFor();
      expect((await nodes()).map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
        '▾ Step 0 I ask.',
        '▾ research {}',
        'Answer Three shops.',
        'Agent helper return 0.5 · success · 00000002',
        'Step 1 Three.',
      ]);
      expect(await browser.accessibilityFaults()).toEqual([]);
      await tree.getByRole('treeitem').first().focus();
      await page.keyboard.press('ArrowLeft');
      expect(await nodes()).toHaveLength(2);
      await page.keyboard.press('ArrowRight');
      for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
      await page.waitForURL((address) => address.pathname.endsWith(called));
      await page.getByRole('treeitem', { name: 'Called by' }).waitFor();
      await page.goBack();
      await page.getByRole('link', { name: 'a&b' }).click();
      // The list of its group only.
      await expect
        .poll(() => page.locator('tbody tr').allInnerTexts())
        .toEqual([expect.stringContaining('a&b')]);
      await page.locator('tbody').getByRole('link', { name: 'a&b' }).click();
      expect(new URL(page.url()).searchParams.get('groupId')).toBe('a&b');
    });

    it('keeps the page where the code of a part of it is gone, and says so in its place', async () => {
      // With complaints of its own.
      const page = await browser.page.context().browser()?.newPage();
      if (page === undefined) throw new Error('the page belongs to no browser');
      await page.route(/\/(columns-menu|start-form)-[^/]*\.js/, (route) => route.abort());
      await page.goto(`${url}/runs`);
      for (const name of ['Columns', 'Start a run']) await page.getByRole('button', { name }).click();
      const reload = page.getByRole('button', { name: 'Reload the page' });
      await expect.poll(() => reload.count()).toBe(2);
      expect(await page.getByRole('region', { name: 'Runs' }).count()).toBe(1);
      await page.close();
    });

    it('reports no error or warning in the console of the browser', () => {
      expect(browser.complaints).toEqual([]);
    });

    it('says by itself that the server died, and that it is back', { tags: 'release' }, async () => {
      const { page } = browser;
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.goto(url);
      const state = page.getByRole('banner').getByRole('status');
      await state.getByText('Ready').waitFor();
      await server.killTree();
      await state.getByText('Server unavailable').waitFor();
      server = startRetrace(['up', ...run, '--port', new URL(url).port, '--data-dir', data.path]);
      await state.getByText('Ready').waitFor();
    });

    it('asks for a key as soon as there is one, logs in and out by it, and has no accessibility fault', async () => {
      const { page } = browser;
      const [{ runId }] = await sql<{ runId: string }>(
        "SELECT run_id AS runId FROM runs WHERE name = 'memory-bandit-grpo' ORDER BY run_id LIMIT 1",
      );
      const made = await runRetrace([
        ...['keys', 'create', '--name', 'page', '--scopes', 'read,sql'],
        ...['--data-dir', data.path],
      ]);
      await expect.poll(async () => (await fetch(`${url}/api/runs`)).status).toBe(401);
      await page.goto(`${url}/runs/${runId}`);
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
      expect(await browser.accessibilityFaults()).toEqual([]);
      const [field, submit] = [page.getByLabel('API key'), page.getByRole('button', { name: 'Log in' })];
      await field.fill('retrace_0123456789ab_wrong');
      await submit.click();
      await page.getByRole('alert').getByText('Unknown API key').waitFor();
      expect(await browser.accessibilityFaults()).toEqual([]);
      await field.fill(made.stdout);
      await submit.click();
      await page.getByRole('heading', { level: 1, name: 'memory-bandit-grpo' }).waitFor();
      await page.getByRole('banner').getByText('Ready').waitFor();
      expect(await page.evaluate('document.cookie')).toBe('');
      await page.reload();
      await page.getByRole('figure', { name: 'Learning rate' }).waitFor();
      await page.getByRole('link', { name: 'SQL', exact: true }).click();
      await page.getByText('dead_letters').waitFor();
      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
    });
  });
});
