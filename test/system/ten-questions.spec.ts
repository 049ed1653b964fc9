import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Locator } from 'playwright-core';
import { findBrowser } from '../../scripts/find-browser.mjs';
import { makeDataDirectory, runRetrace, startRetrace } from '../support/cli.mjs';
import { DashboardBrowser } from '../support/dashboard-browser.mjs';

const found = findBrowser();
const noBrowser = 'unavailable' in found ? ` (skipped, because ${found.unavailable})` : '';

const MOST_CLICKS = 5;
/** Two seeds of short episodes in the lakes, each with three updates. */
const RUN = [
  ...['train', '--recipe', 'frozen-lake-ppo', '--updates', '3', '--set', 'collection.groupsPerRound=64'],
  ...['--set', 'evaluation.everyUpdates=1', '--set', 'evaluation.numValidationEpisodes=32'],
  ...['--set', 'evaluation.numTestEpisodes=0'],
];

describe.skipIf(noBrowser !== '')(
  `the ten questions of the tutorial, each answered in ${MOST_CLICKS} clicks${noBrowser}`,
  { timeout: 600_000 },
  () => {
    const data = makeDataDirectory();
    let server: ReturnType<typeof startRetrace>;
    let browser: DashboardBrowser;
    let run = '';
    let numClicks = 0;

    beforeAll(async () => {
      for (const seed of ['1', '2']) {
        const { code, stderr } = await runRetrace([...RUN, '--seed', seed, '--data-dir', data.path]);
        expect(code, stderr).toBe(0);
      }
      server = startRetrace(['up', '--no-training', '--port', '0', '--data-dir', data.path]);
      const url = await server.untilServing(110_000);
      const { items } = (await (await fetch(`${url}/api/runs`)).json()) as { items: { runId: string }[] };
      run = `${url}/runs/${items[0].runId}`;
      browser = await DashboardBrowser.open('path' in found ? found.path : '');
    });

    afterAll(async () => {
      await browser?.close();
      await server?.killTree();
      data.remove();
    });

    beforeEach(async () => {
      numClicks = 0;
      await browser.page.goto(run);
    });

    async function click(target: Locator): Promise<void> {
      await target.first().click();
      numClicks++;
      expect(numClicks).toBeLessThanOrEqual(MOST_CLICKS);
    }

    const tab = (name: string) =>
      browser.page.getByRole('navigation', { name: 'Run' }).getByRole('link', { name, exact: true });
    const link = (name: string) => browser.page.getByRole('link', { name, exact: true });
    const button = (name: string) => browser.page.getByRole('button', { name, exact: true });

    async function openUpdate(number: string): Promise<void> {
      await click(tab('Updates'));
      await click(link(number));
      await browser.page.getByRole('heading', { name: `Update ${number}` }).waitFor();
    }

    async function openLongestEpisode(): Promise<void> {
      await click(link('SQL'));
      await browser.page
        .getByLabel('SQL query')
        .fill('SELECT run_id, episode_id, num_steps FROM episodes ORDER BY num_steps DESC LIMIT 1');
      await click(button('Run'));
      await click(browser.page.getByRole('cell').nth(1).getByRole('link'));
    }

    it('1. which episodes did most to update 2, and which pulled against it', async () => {
      await openUpdate('2');
      const episodes = browser.page.getByRole('region', { name: /^Episodes that fed update/ });
      const shares = async () =>
        (await episodes.locator('tbody tr td:nth-child(3)').allInnerTexts()).map(Number.parseFloat);
      await expect.poll(async () => (await shares()).length).toBeGreaterThan(8);
      const first = await shares();
      expect(first).toEqual([...first].sort((a, b) => b - a));
      await click(episodes.getByRole('button', { name: 'Share' }));
      await expect.poll(async () => (await shares())[0]).toBeLessThanOrEqual(first.at(-1) ?? 0);
      await click(episodes.getByRole('link'));
      await browser.page.getByRole('heading', { name: 'Step 0' }).waitFor();
    });

    it('2. did the reward change, or the policy', async () => {
      await openUpdate('3');
      await click(browser.page.getByText(/^All \d+ metrics$/));
      const metrics = browser.page.getByRole('region', { name: /metrics/i });
      const kl = metrics.getByRole('row').filter({ hasText: 'train/approximateKl' });
      expect(await kl.first().innerText()).toMatch(/\d/);
      await click(tab('Rewards'));
      await browser.page.getByRole('heading', { name: 'Not scored yet' }).waitFor();
    });

    it('3. which tokens were clipped', async () => {
      await click(link('SQL'));
      await click(browser.page.getByText('What did the updates learn from?'));
      await click(button('Clipped tokens and ratios of each update'));
      await expect.poll(() => browser.page.getByRole('row').count()).toBeGreaterThanOrEqual(3);
    });

    it('4. what would GRPO have done', async () => {
      await openUpdate('3');
      await click(link('What if …'));
      await click(button('GRPO'));
      await click(button('Compare'));
      await browser.page.getByText('finished', { exact: true }).waitFor();
      const gradient = browser.page.getByRole('region', { name: 'Gradient of update 3 by layer' });
      expect(await gradient.getByRole('row').count()).toBeGreaterThan(1);
    });

    it('5. is the other seed different', async () => {
      await click(tab('Metrics'));
      await click(button('Add 1 other seed'));
      const results = browser.page.getByRole('region', { name: /^Results/ });
      await expect.poll(() => results.getByRole('row').count()).toBeGreaterThan(1);
      expect(await results.innerText()).toMatch(/\d+(\.\d+)?%/);
    });

    it('6. what did the agent see at turn 12', async () => {
      await openLongestEpisode();
      const step = browser.page.getByRole('article').filter({ hasText: 'Step 12' });
      await expect.poll(() => browser.page.getByRole('heading', { name: 'Step 12' }).count()).toBe(1);
      expect(await step.first().innerText()).toMatch(/row \d|[SFHG.]/);
    });

    it('7. which version of the policy sampled a token', async () => {
      await click(tab('Episodes'));
      await click(browser.page.getByRole('row').nth(1).getByRole('link'));
      await click(
        browser.page
          .getByRole('group', { name: 'Color tokens by' })
          .getByRole('button', { name: 'Policy version' }),
      );
      await browser.page.getByRole('img', { name: /^Policy version: / }).waitFor();
    });

    it('8. does the update give the same loss again', async () => {
      await openUpdate('3');
      await click(button('Replay'));
      await browser.page.getByText(/^Same loss.* bit for bit$/).waitFor();
    });

    it('9. what was known after the first update', async () => {
      await openUpdate('1');
      await click(link('As of this update'));
      await click(tab('Updates'));
      const committed = () =>
        browser.page
          .locator('tbody tr')
          .evaluateAll((rows) => rows.filter((row) => !row.textContent.includes('planned')).length);
      await expect.poll(committed).toBe(1);
    });

    it('10. in which tasks does it fail', async () => {
      await click(link('SQL'));
      await click(browser.page.getByText('Where does it fail?'));
      await click(button('Failures by task'));
      await expect.poll(() => browser.page.getByRole('row').count()).toBeGreaterThan(2);
    });
  },
);
