/**
 * `npm run screenshots`: takes the pictures of the dashboard in `docs/images`. Starts `retrace up` on a data directory of its own,
 * and photographs the run page while the policy learns; then an episode and the SQL page. Takes about two minutes on two cores.
 */
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { makeDataDirectory, root, startRetrace } from '../test/support/cli.mjs';
import { buildIfStale } from './build-if-stale.mjs';
import { findBrowser } from './find-browser.mjs';

const RECIPE = 'frozen-lake-ppo';
/** The curve has risen by this update, and the run goes on for a while. */
const LEARNED_BY_UPDATE = 60;
const LEARNING_MS = 600_000;
const SETTLE_MS = 1_500;
const IMAGES = join(root, 'docs', 'images');
const MARGIN_PIXELS = 8;
const VIEWPORT = { width: 1400, height: 900 };

const found = findBrowser();
if ('unavailable' in found) {
  console.error(`screenshots: no browser: ${found.unavailable}`);
  process.exit(1);
}
await buildIfStale();
const directory = makeDataDirectory();
const session = startRetrace(['up', '--recipe', RECIPE, '--port', '0', '--data-dir', directory.path]);
const browser = await chromium.launch({ executablePath: found.path });
try {
  const url = await session.waitFor(/dashboard at (http:\S+)\/live/);
  const page = await browser.newPage({ viewport: VIEWPORT, colorScheme: 'light' });
  page.setDefaultTimeout(20_000);
  await session.waitFor(new RegExp(`update ${LEARNED_BY_UPDATE} `), LEARNING_MS);
  await photographRun(page, url);
  await session.waitFor(/the run has finished/, LEARNING_MS);
  await photographEpisode(page, url);
  await photographSql(page, url);
} finally {
  await browser.close();
  await session.killTree();
  directory.remove();
}

/**
 * Photographs the overview of the run down to the first row of small charts.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} url
 */
async function photographRun(page, url) {
  await page.goto(`${url}/live`);
  const chart = page.getByRole('figure', { name: 'Return' });
  await chart.waitFor();
  await photograph(page, { fileName: 'dashboard.png', last: chart });
}

/**
 * Photographs an episode with one mistake, from the time when the policy learned fastest.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} url
 */
async function photographEpisode(page, url) {
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
  await page.goto(`${url}/runs/${runId}/episodes/${episodeId}`);
  await page.getByRole('group', { name: 'Tokens of step 0' }).getByRole('button').last().hover();
  const step = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Step 2' }) });
  await photograph(page, { fileName: 'episode.png', last: step });
}

/**
 * Photographs the result of the first example query.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} url
 */
async function photographSql(page, url) {
  await page.goto(`${url}/sql`);
  await page.getByRole('button', { name: 'Success by policy version' }).click();
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('region', { name: 'Query result' }).waitFor();
  await photograph(page, { fileName: 'sql.png', last: page.getByRole('region', { name: 'Tables' }) });
}

/**
 * Takes a picture of the page from its top to the end of one element.
 *
 * @param {import('playwright-core').Page} page
 * @param {{ fileName: string, last: import('playwright-core').Locator }} picture
 */
async function photograph(page, { fileName, last }) {
  // Late metrics, fonts and the first frames of the charts.
  await page.waitForTimeout(SETTLE_MS);
  const box = await last.boundingBox();
  if (!box) throw new Error(`${fileName}: the element that ends the picture is not on the page`);
  const clip = { x: 0, y: 0, width: VIEWPORT.width, height: Math.ceil(box.y + box.height + MARGIN_PIXELS) };
  await page.screenshot({ path: join(IMAGES, fileName), clip, fullPage: true });
  console.log(`Wrote docs/images/${fileName}`);
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
