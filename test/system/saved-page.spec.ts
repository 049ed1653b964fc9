import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBrowser } from '../../scripts/find-browser.mjs';
import { makeDataDirectory, runRetrace, startRetrace } from '../support/cli.mjs';
import { DashboardBrowser } from '../support/dashboard-browser.mjs';
import { placeTrainedDirectory } from '../support/trained-directory.mjs';

const found = findBrowser();
const noBrowser = 'unavailable' in found ? ` (skipped, because ${found.unavailable})` : '';

/** Would run in the page, were it taken as a part of it. */
const HOSTILE = `</script><script>window.ran = true</script><img src=x onerror="window.ran = true"><!-- <b>`;

describe.skipIf(noBrowser !== '')(`a run in a page without a server${noBrowser}`, () => {
  const data = makeDataDirectory();
  const output = join(data.path, 'run.html');
  let browser: DashboardBrowser;

  beforeAll(async () => {
    await placeTrainedDirectory(data.path, 1);
    browser = await DashboardBrowser.open('path' in found ? found.path : '');
    browser.page.on('request', (request) => {
      if (!/^(file|data|blob):/.test(request.url())) browser.complaints.push(`asks for ${request.url()}`);
    });
    await browser.page.context().setOffline(true);
  });

  afterAll(async () => {
    await browser.close();
    data.remove();
  });

  async function save(run: string, ...args: readonly string[]): Promise<Record<string, unknown>> {
    const options = ['export', '--run', run, '--output', output, '--html', '--data-dir', data.path, '--json'];
    const { code, stdout, stderr } = await runRetrace([...options, ...args]);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  const tab = (name: string) =>
    browser.page.getByRole('navigation', { name: 'Run' }).getByRole('link', { name });

  it('has its charts, updates, episodes and tokens, and asks no host for anything', async () => {
    const saved = await save('latest', '--episodes', '1');
    expect(saved).toMatchObject({ numEpisodes: 1, numLeftOut: 0 });
    const { page } = browser;
    await page.goto(pathToFileURL(output).href);
    await page.getByRole('heading', { level: 1, name: 'bandit-ppo' }).waitFor();
    await page
      .getByRole('figure', { name: 'Success rate' })
      .getByText(/^Rollout \d+\.\d%$/)
      .waitFor();
    expect((await browser.drawn()).texts).toContain('100%');
    const numEpisodes = (saved.numEpisodesOfRun as number).toLocaleString('en');
    await page.getByText(`Of ${numEpisodes} episodes of the run, this page has 1:`).waitFor();

    await tab('Updates').click();
    await page.getByRole('link', { name: '2', exact: true }).click();
    await page.getByRole('heading', { name: 'Update 2' }).waitFor();
    await page.getByRole('figure').filter({ hasText: 'Advantage' }).waitFor();
    expect(await page.getByRole('button', { name: 'Replay' }).count()).toBe(0);

    await tab('Episodes').click();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await page.getByRole('row').nth(1).getByRole('link').first().click();
    await page.getByRole('img', { name: /^Logprob: green is/ }).waitFor();
    const tokens = page.getByRole('group', { name: 'Tokens of step 0' }).getByRole('button');
    expect(await tokens.count()).toBeGreaterThan(1);
    // An address of the page opens the same again.
    await page.reload();
    await tokens.last().hover();
    await page.getByText(/^Logprob −\d/).waitFor();
    expect(browser.complaints).toEqual([]);
  });

  it('shows what hostile agents wrote as text, from a running server, and has no accessibility fault', async () => {
    const server = startRetrace(['up', '--no-training', '--port', '0', '--data-dir', data.path]);
    const url = await server.untilServing(110_000);
    const send = async (method: string, path: string, body: unknown) => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
      expect(response.ok, path).toBe(true);
      return (await response.json()) as { readonly runId: string };
    };
    const { runId } = await send('POST', '/api/runs', {
      ...{ name: HOSTILE, tags: [HOSTILE], metadata: { plan: HOSTILE } },
    });
    const messages = {
      input: [{ role: 'user', content: HOSTILE }],
      output: { role: 'assistant', content: HOSTILE },
    };
    await send('POST', `/api/runs/${runId}/records`, [
      { type: 'episode', episode: 'e', environment: HOSTILE, task: { say: HOSTILE }, agent: HOSTILE },
      { type: 'step', episode: 'e', step: 0, observation: HOSTILE, action: HOSTILE, reward: 1 },
      { type: 'step', episode: 'e', step: 1, messages },
      { type: 'end', episode: 'e', success: true },
    ]);
    await send('PATCH', `/api/runs/${runId}`, { notes: HOSTILE });
    expect(await save(runId)).toMatchObject({ numEpisodes: 1, numEpisodesOfRun: 1 });
    await server.killTree();

    const { page } = browser;
    await page.goto('about:blank');
    await page.goto(pathToFileURL(output).href);
    await page.getByRole('heading', { level: 1, name: HOSTILE }).waitFor();
    await page.getByRole('region', { name: 'About this run' }).getByText(HOSTILE).last().waitFor();
    expect(await browser.accessibilityFaults()).toEqual([]);
    await tab('Episodes').click();
    await page.getByRole('searchbox', { name: 'Text' }).fill('WINDOW.RAN');
    await page.keyboard.press('Enter');
    await page.getByRole('row').nth(1).getByRole('link').first().click();
    await page.getByRole('heading', { name: 'Step 1' }).waitFor();
    for (const step of ['Step 0', 'Step 1'])
      await page.getByRole('listitem').filter({ hasText: step }).getByText(HOSTILE).first().waitFor();
    expect(await browser.accessibilityFaults()).toEqual([]);
    expect(await page.evaluate('window.ran')).toBeUndefined();
    expect(browser.complaints).toEqual([]);
  });
});
