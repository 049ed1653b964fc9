import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Locator } from 'playwright-core';
import { findBrowser } from '../../scripts/find-browser.mjs';
import { photographTour } from '../../scripts/photograph-tour.mjs';
import * as photographs from '../../scripts/photographs.mjs';
import { readBlocks } from '../docs/blocks.mjs';
import { makeDataDirectory, root, runRetrace, startRetrace } from '../support/cli.mjs';
import { DashboardBrowser } from '../support/dashboard-browser.mjs';

const found = findBrowser();
const noBrowser = 'unavailable' in found ? ` (skipped, because ${found.unavailable})` : '';

const MOST_CLICKS = 5;
const NUM_UPDATES = 12;
/** Arguments of the runs that the section "Ten questions" of the tutorial records. */
const RUN = readRecordedRun();

function readRecordedRun(): string[] {
  const texts = readBlocks().flatMap(({ page, text }) => (page === 'docs/tutorial.md' ? [text] : []));
  const command = texts
    .map((text) => /npx retrace (train [^;]*) --seed \$seed --data-dir \S+ ([^;]*)\ndone\n/.exec(text))
    .find((match) => match !== null);
  if (command === undefined) throw new Error('docs/tutorial.md has no loop that trains with --seed $seed');
  return command
    .slice(1)
    .join(' ')
    .split(/[\s\\]+/);
}

describe.skipIf(noBrowser !== '')(
  `the ten questions of the tutorial, each answered in at most ${MOST_CLICKS} clicks${noBrowser}`,
  { timeout: 120_000 },
  () => {
    const data = makeDataDirectory();
    let server: ReturnType<typeof startRetrace>;
    let browser: DashboardBrowser;
    let url = '';
    let run = '';
    let otherId = '';
    let numClicks = 0;

    beforeAll(async () => {
      for (const seed of ['1', '2']) {
        const { code, stderr } = await runRetrace([...RUN, '--seed', seed, '--data-dir', data.path]);
        expect(code, stderr).toBe(0);
      }
      server = startRetrace(['up', '--no-training', '--port', '0', '--data-dir', data.path]);
      url = await server.untilServing(110_000);
      const { items } = (await (await fetch(`${url}/api/runs`)).json()) as { items: { runId: string }[] };
      run = `${url}/runs/${items[0].runId}`;
      otherId = items[1].runId;
      browser = await DashboardBrowser.open('path' in found ? found.path : '');
      // Below the limit of a test, so that what is missing is named.
      browser.page.setDefaultTimeout(40_000);
    }, 300_000);

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
    const region = (name: string | RegExp) => browser.page.getByRole('region', { name });

    async function openUpdate(number: number): Promise<void> {
      await click(tab('Updates'));
      await click(link(`${number}`));
      await browser.page.getByRole('heading', { name: `Update ${number}`, exact: true }).waitFor();
    }

    /** Runs a ready-made query, and returns the cells of its answer. */
    async function askReadyMade(group: string, query: string): Promise<string[][]> {
      await click(link('SQL'));
      await click(browser.page.getByText(group));
      await click(button(query));
      const rows = region('Query result').locator('tbody tr');
      await rows.first().waitFor();
      return rows.evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
    }

    it('1. which episodes did most to update 6, and which did least', async () => {
      await openUpdate(6);
      const episodes = region(/^Episodes that fed update/);
      const shares = async () =>
        (await episodes.locator('tbody tr td:nth-child(3)').allInnerTexts()).map(Number.parseFloat);
      await episodes.getByRole('link').first().waitFor();
      const most = await shares();
      expect(most.length).toBeGreaterThan(8);
      expect(most).toEqual([...most].sort((a, b) => b - a));
      await click(episodes.getByRole('button', { name: 'Share' }));
      await expect
        .poll(async () => (await shares())[0], { timeout: 40_000 })
        .toBeLessThanOrEqual(most.at(-1) ?? 0);
      await click(episodes.getByRole('link'));
      await browser.page.getByRole('heading', { name: 'Step 0' }).waitFor();
    });

    it('2. did the reward change, or the policy', async () => {
      await openUpdate(6);
      await click(browser.page.getByText(/^All \d+ metrics$/));
      await link('train/approximateKl').waitFor();
      await link('reward/component/environment').waitFor();
      const kl = browser.page.locator('dl > div').filter({ has: link('train/approximateKl') });
      expect(Number(await kl.locator('dd').innerText())).toBeGreaterThan(0);
      await click(link('train/approximateKl'));
      await browser.page.getByRole('figure', { name: 'train/approximateKl' }).waitFor();
      await click(tab('Rewards'));
      await browser.page.getByRole('heading', { name: 'Not scored yet' }).waitFor();
    });

    it('3. which tokens were clipped', async () => {
      const rows = await askReadyMade(
        'What did the updates learn from?',
        'Clipped tokens and ratios of each update',
      );
      expect(rows.map(([update]) => Number(update))).toEqual(
        Array.from({ length: NUM_UPDATES }, (_, i) => i + 1),
      );
      expect(Number(rows[5][1])).toBeGreaterThan(0);
      await click(button('Tokens that moved most in the newest update'));
      await region('Query result').getByRole('columnheader', { name: 'action' }).waitFor();
      expect(await region('Query result').getByRole('link').count()).toBeGreaterThan(0);
    });

    it('4. what would GRPO have done', async () => {
      await openUpdate(6);
      await click(link('What if …'));
      await click(button('GRPO'));
      await click(button('Compare'));
      const gradient = region('Gradient of update 6 by layer')
        .getByRole('row')
        .filter({ hasText: 'embedding' });
      await gradient.waitFor();
      await browser.page.getByText('finished', { exact: true }).waitFor();
      const compared = region('Updates, recorded and changed').locator('tbody td');
      const [, cosine] = await compared.allInnerTexts();
      expect(Number(cosine.replace('\u2212', '-'))).toBeLessThan(1);
      expect(await compared.last().innerText()).toBe('bit for bit');
    });

    it('5. is the other seed different', async () => {
      await click(tab('Metrics'));
      await click(button('Add 1 other seed'));
      const row = region('Results').getByRole('row', { name: /and 1 more run.*\d%/ });
      await row.waitFor();
      const [, , mean, interval] = await row.getByRole('cell').allInnerTexts();
      const [low, high] = interval.split('–').map(Number.parseFloat);
      expect(low).toBeLessThan(Number.parseFloat(mean));
      expect(high).toBeGreaterThan(Number.parseFloat(mean));
    });

    it('6. what did the agent see at turn 7', async () => {
      await click(link('SQL'));
      await browser.page
        .getByLabel('SQL query')
        .fill('SELECT run_id, episode_id, num_steps FROM episodes ORDER BY num_steps DESC LIMIT 1');
      await click(button('Run'));
      await click(browser.page.getByRole('cell').nth(1).getByRole('link'));
      const turn = browser.page
        .getByRole('listitem')
        .filter({ has: browser.page.getByRole('heading', { name: 'Step 7', exact: true }) });
      await turn
        .getByText(/you_\w\d/)
        .first()
        .waitFor();
    });

    it('7. which version of the policy sampled a token', async () => {
      await click(tab('Episodes'));
      await click(browser.page.getByRole('row').nth(1).getByRole('link'));
      await click(browser.page.getByRole('group', { name: 'Tokens of step 0' }).getByRole('button').last());
      await browser.page
        .locator('p')
        .filter({ hasText: /^Token \d+.*Sampled.*Policy version \d+/ })
        .first()
        .waitFor();
    });

    it('8. does the update give the same loss again', async () => {
      await openUpdate(6);
      await click(button('Replay'));
      await browser.page.getByText(/^Same loss.* bit for bit$/).waitFor();
    });

    it('9. what was known after the first update', async () => {
      await openUpdate(1);
      await click(link('As of this update'));
      await browser.page.waitForURL(/asOf=/);
      await click(tab('Updates'));
      const committed = () =>
        browser.page
          .locator('tbody tr')
          .evaluateAll((rows) => rows.filter((row) => !row.textContent.includes('planned')).length);
      await expect.poll(committed, { timeout: 40_000 }).toBe(1);
    });

    it('10. in which tasks does it fail', async () => {
      const rows = await askReadyMade('Where does it fail?', 'Failures by task');
      const rates = rows.map((cells) => Number(cells[3]));
      expect(rates.length).toBeGreaterThan(1);
      expect(rates).toEqual([...rates].sort((a, b) => a - b));
    });

    it('every picture of the README and the documentation can be taken of these runs, as `npm run screenshots` does', async () => {
      const { page } = browser;
      const listed = await fetch(`${url}/api${new URL(run).pathname}/episodes?split=train&limit=50`);
      const { items } = (await listed.json()) as {
        items: { episodeId: string; groupId: string; numSteps: number }[];
      };
      const [{ episodeId, groupId }] = items.sort((a, b) => b.numSteps - a.numSteps);
      const images = join(data.path, 'images');
      mkdirSync(images);
      await photographs.photographRun(page, url, images);
      await photographs.photographLearned(page, url, images);
      await photographs.photographUpdate(page, `${run}/updates/6`, images);
      await photographs.photographCompared(page, { run, otherId }, images);
      await photographs.photographGroup(page, `${run}/side-by-side?group=${groupId}`, images);
      await photographs.photographEpisode(page, `${run}/episodes/${episodeId}`, images);
      await photographs.photographSql(page, url, images);
      await photographTour(page, url, images);
      const committed = readdirSync(join(root, 'docs', 'images'));
      expect(readdirSync(images).sort()).toEqual(committed.sort());
      // An empty page is a few thousand bytes.
      for (const name of committed) expect(statSync(join(images, name)).size, name).toBeGreaterThan(15_000);
    });
  },
);
