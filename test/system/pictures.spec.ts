import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../apps/api/src/testing/api-fixture.js';
import { RunRecorder } from '../../apps/api/src/testing/run-recorder.js';
import { findBrowser } from '../../scripts/find-browser.mjs';
import { root } from '../support/cli.mjs';
import { KeptPictures } from '../support/kept-pictures.js';

const found = findBrowser();
const noBrowser = 'unavailable' in found ? ` (skipped, because ${found.unavailable})` : '';

const NUM_ROUNDS = 12;
/** An update that recorded its tokens. */
const UPDATE = 6;
interface PicturedPage {
  readonly name: string;
  readonly address: () => string;
  /** Role and name of what comes last of what the picture shows. */
  readonly last: readonly [role: Parameters<Page['getByRole']>[0], name: string | RegExp];
}

const STARTED_AT_US = Date.UTC(2026, 0, 5, 12) * 1000;

describe.skipIf(noBrowser !== '')(
  `pictures of the pages, in light and in dark${noBrowser}`,
  { timeout: 240_000 },
  () => {
    let fixture: ApiFixture;
    let pictures: KeptPictures;
    let notComparable: string | null;
    let run = '';
    let episode = '';
    let group = '';

    beforeAll(async () => {
      const site = join(root, 'apps', 'dashboard', 'dist', 'site');
      fixture = await ApiFixture.start({ RETRACE_DASHBOARD_DIRECTORY: site });
      const recorder = new RunRecorder(fixture.log, { startedAtUs: STARTED_AT_US, groupSize: 4 });
      await recorder.start();
      for (let round = 0; round < NUM_ROUNDS; round++) {
        const [first] = await recorder.round();
        if (round === UPDATE) ({ episodeId: episode } = first);
      }
      await recorder.end('finished');
      await fixture.storeHasCaughtUp();
      run = `/runs/${recorder.runId}`;
      const { groupId } = await fixture.getJson<{ groupId: string }>(`/api${run}/episodes/${episode}`);
      group = groupId;
      pictures = await KeptPictures.open('path' in found ? found.path : '');
      await pictures.page.goto(fixture.api.url);
      notComparable = await pictures.whyNotComparable();
      // A reporter names no reason of a skipped test unless it is asked to.
      if (notComparable !== null) console.warn(`No page was compared with its picture: ${notComparable}`);
    }, 240_000);

    afterAll(async () => {
      await pictures?.close();
      await fixture?.close();
    });

    const PAGES: readonly PicturedPage[] = [
      { name: 'runs', address: () => '/', last: ['link', 'frozen-lake-ppo'] },
      { name: 'overview', address: () => run, last: ['figure', 'Success rate'] },
      { name: 'metrics', address: () => `${run}/metrics?q=train%2F`, last: ['figure', 'train/entropy'] },
      { name: 'updates', address: () => `${run}/updates`, last: ['link', '1'] },
      { name: 'update', address: () => `${run}/updates/${UPDATE}`, last: ['region', /^Episodes that fed/] },
      { name: 'episode', address: () => `${run}/episodes/${episode}`, last: ['group', 'Tokens of step 0'] },
      { name: 'side-by-side', address: () => `${run}/side-by-side?group=${group}`, last: ['row', /^Step 0/] },
      { name: 'what-ifs', address: () => `${run}/what-ifs`, last: ['button', 'Compare'] },
    ];

    it.for(PAGES)('$name looks as it did', async ({ name, address, last: [role, label] }, { skip }) => {
      if (notComparable !== null) skip(`skipped, because ${notComparable}`);
      const { page } = pictures;
      const faults: string[] = [];
      for (const theme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme: theme });
        await page.goto(`${fixture.api.url}${address()}`);
        const fault = await pictures.faultOf(`${name}-${theme}`, page.getByRole(role, { name: label }));
        if (fault !== null) faults.push(fault);
      }
      expect(faults).toEqual([]);
    });
  },
);
