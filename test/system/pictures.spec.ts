import { join } from 'node:path';
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
    }, 240_000);

    afterAll(async () => {
      await pictures?.close();
      await fixture?.close();
    });

    const PAGES: readonly (readonly [name: string, address: () => string])[] = [
      ['runs', () => '/'],
      ['overview', () => run],
      ['metrics', () => `${run}/metrics?q=train%2F`],
      ['updates', () => `${run}/updates`],
      ['update', () => `${run}/updates/${UPDATE}`],
      ['episode', () => `${run}/episodes/${episode}`],
      ['side-by-side', () => `${run}/side-by-side?group=${group}`],
      ['what-ifs', () => `${run}/what-ifs`],
    ];

    it.for(PAGES)('%s looks as it did', async ([name, address], { skip }) => {
      if (notComparable !== null) skip(`skipped, because ${notComparable}`);
      const { page } = pictures;
      const faults: string[] = [];
      for (const theme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme: theme });
        await page.goto(`${fixture.api.url}${address()}`);
        const fault = await pictures.faultOf(`${name}-${theme}`);
        if (fault !== null) faults.push(fault);
      }
      expect(faults).toEqual([]);
    });
  },
);
