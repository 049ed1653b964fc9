/**
 * `npm run screenshots`: takes the pictures of the dashboard in `docs/images`. Starts `retrace up` on a data directory of its own,
 * and photographs the run page while the policy learns; then an episode, the SQL page, and the way from a dip of a curve to its cause. Takes about two minutes on two cores.
 */
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { makeDataDirectory, root, startRetrace } from '../test/support/cli.mjs';
import { buildIfStale } from './build-if-stale.mjs';
import { findBrowser } from './find-browser.mjs';
import { photographTour } from './photograph-tour.mjs';
import { photographEpisode, photographRun, photographSql, VIEWPORT } from './photographs.mjs';

const RECIPE = 'frozen-lake-ppo';
/** The curve has risen by this update, and the run goes on for a while. */
const LEARNED_BY_UPDATE = 60;
const LEARNING_MS = 600_000;
const IMAGES = join(root, 'docs', 'images');

const found = findBrowser();
if ('unavailable' in found) {
  console.error(`screenshots: no browser: ${found.unavailable}`);
  process.exit(1);
}
await buildIfStale();
const directory = makeDataDirectory();
const session = startRetrace([
  ...['up', '--recipe', RECIPE, '--port', '0', '--data-dir', directory.path],
  // An episode then shows the advantage of each token.
  ...['--set', 'updateTokens=true'],
]);
const browser = await chromium.launch({ executablePath: found.path });
try {
  const url = await session.waitFor(/dashboard at (http:\S+)\/live/);
  const page = await browser.newPage({ viewport: VIEWPORT, colorScheme: 'light' });
  page.setDefaultTimeout(20_000);
  await session.waitFor(new RegExp(`update ${LEARNED_BY_UPDATE} `), LEARNING_MS);
  await photographRun(page, url, IMAGES);
  await session.waitFor(/the run has finished/, LEARNING_MS);
  await photographEpisode(page, await findEpisode(url), IMAGES);
  await photographSql(page, url, IMAGES);
  await photographTour(page, url, IMAGES);
  console.log('Wrote docs/images');
} finally {
  await browser.close();
  await session.killTree();
  directory.remove();
}

/**
 * Finds an episode with one mistake, from the time when the policy learned fastest.
 *
 * @param {string} url
 * @returns {Promise<string>} the address of its page
 */
async function findEpisode(url) {
  const { rows } = await postSql(
    url,
    `SELECT run_id, episode_id FROM steps
     WHERE episode_id IN (
       SELECT episode_id FROM episodes
       WHERE success AND split = 'train' AND policy_version_max BETWEEN 13 AND 17)
     GROUP BY run_id, episode_id
     HAVING count() BETWEEN 4 AND 7 AND countIf(NOT action_valid) = 1 AND argMin(action_valid, step) = 0
     ORDER BY episode_id LIMIT 1`,
  );
  const [[runId, episodeId]] = rows;
  return `${url}/runs/${runId}/episodes/${episodeId}`;
}

/**
 * @param {string} url
 * @param {string} query
 * @returns {Promise<{ rows: string[][] }>}
 */
async function postSql(url, query) {
  const response = await fetch(`${url}/api/sql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  if (!response.ok) throw new Error(`SQL failed: ${await response.text()}`);
  return /** @type {Promise<{ rows: string[][] }>} */ (response.json());
}
