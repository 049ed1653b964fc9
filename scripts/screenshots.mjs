/**
 * `npm run screenshots`: takes the pictures of the dashboard in `docs/images`. Starts `retrace up` on a data directory of its own,
 * which has a run with another seed, and photographs the run page while the policy learns; then what it learned, an update, both seeds, a group, an episode, the SQL page, and
 * the way from a dip of a curve to its cause. Takes about four minutes on two cores.
 */
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { makeDataDirectory, root, runRetrace, startRetrace } from '../test/support/cli.mjs';
import { buildIfStale } from './build-if-stale.mjs';
import { findBrowser } from './find-browser.mjs';
import { photographTour } from './photograph-tour.mjs';
import {
  photographCompared,
  photographEpisode,
  photographGroup,
  photographLearned,
  photographRun,
  photographSql,
  photographUpdate,
  VIEWPORT,
} from './photographs.mjs';

/** In groups, so that their members can be compared. */
const RUN = [
  ...['--recipe', 'frozen-lake-ppo', '--updates', '80'],
  ...['--set', 'collection.groupsPerRound=128', '--set', 'collection.groupSize=4'],
  // An episode then shows the advantage of each token.
  ...['--set', 'updateTokens=true'],
];
/** The update that is shown: the policy learns fast, and the state that it starts from is kept. */
const SHOWN_UPDATE = 26;
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
const { code, stderr } = await runRetrace([
  ...['train', ...RUN, '--seed', '2', '--data-dir', directory.path],
]);
if (code !== 0) throw new Error(`the run with another seed failed: ${stderr}`);
const session = startRetrace(['up', ...RUN, '--port', '0', '--data-dir', directory.path]);
const browser = await chromium.launch({ executablePath: found.path });
try {
  const url = await session.waitFor(/dashboard at (http:\S+)\/live/);
  const page = await browser.newPage({ viewport: VIEWPORT, colorScheme: 'light' });
  page.setDefaultTimeout(20_000);
  await session.waitFor(new RegExp(`update ${LEARNED_BY_UPDATE} `), LEARNING_MS);
  await photographRun(page, url, IMAGES);
  await session.waitFor(/the run has finished/, LEARNING_MS);
  await photographLearned(page, url, IMAGES);
  const [newest, other] = await listRuns(url);
  const run = `${url}/runs/${newest}`;
  await photographUpdate(page, `${run}/updates/${SHOWN_UPDATE}`, IMAGES);
  await photographCompared(page, { run, otherId: other }, IMAGES);
  await photographGroup(page, `${run}/side-by-side?group=${await findGroup(url)}`, IMAGES);
  await photographEpisode(page, await findEpisode(url), IMAGES);
  await photographSql(page, url, IMAGES);
  await photographTour(page, url, IMAGES);
  console.log('Wrote docs/images');
} finally {
  await browser.close();
  await session.killTree();
  directory.remove();
}

/** Lists the ids of the trained runs, newest first. @param {string} url @returns {Promise<string[]>} */
async function listRuns(url) {
  const { rows } = await postSql(url, "SELECT run_id FROM runs WHERE kind = 'trained' ORDER BY run_id DESC");
  return rows.map(([runId]) => runId);
}

/**
 * Finds a group of which some members succeeded, none at once, from the time when the policy learned fastest.
 *
 * @param {string} url
 * @returns {Promise<string>} its id
 */
async function findGroup(url) {
  const { rows } = await postSql(
    url,
    `SELECT group_id FROM episodes
     WHERE run_id = (SELECT max(run_id) FROM episodes) AND split = 'train' AND policy_version_max BETWEEN 13 AND 25
     GROUP BY group_id
     HAVING count() = 4 AND countIf(success) BETWEEN 1 AND 3 AND min(num_steps) > 2 AND max(num_steps) < 9
     ORDER BY group_id LIMIT 1`,
  );
  if (rows.length === 0) throw new Error('no group whose members did differently was found');
  return rows[0][0];
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
       WHERE run_id = (SELECT max(run_id) FROM episodes) AND success AND split = 'train' AND policy_version_max BETWEEN 13 AND 17)
     GROUP BY run_id, episode_id
     HAVING count() BETWEEN 4 AND 7 AND countIf(NOT action_valid) = 1 AND argMin(action_valid, step) = 0
     ORDER BY episode_id LIMIT 1`,
  );
  if (rows.length === 0) throw new Error('no episode with one mistake was found');
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
