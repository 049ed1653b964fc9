/** The pictures of the pages in `docs/images`: `npm run screenshots` takes them of a run that learns, and the browser's specs of any run. */
import { join } from 'node:path';

const SETTLE_MS = 1_500;
const MARGIN_PIXELS = 8;
/** A replay may have to make earlier updates again first. */
const REPLAY_MS = 300_000;
/** Between two pictures of a page that is still being drawn. */
const FRAME_MS = 250;
/** A pulse is no change. @type {import('playwright-core').PageScreenshotOptions} */
const STILL = { animations: 'disabled' };
/** A page that never is the same twice is an error. */
const MAX_FRAMES = 120;
/** Rows of a table that a picture shows before it ends. */
const FEW_ROWS = 8;
export const VIEWPORT = { width: 1200, height: 900 };

/**
 * Photographs the overview of a run that trains, down to the success rate: the same task by the first and the newest policy, the address for agents.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} url of the server
 * @param {string} images the directory of the pictures
 */
export async function photographRun(page, url, images) {
  await page.goto(`${url}/live`);
  await page.getByRole('region', { name: 'First and newest policy' }).getByText('Turn 1').first().waitFor();
  await page.getByRole('region', { name: 'Address for agents' }).waitFor();
  const chart = page.getByRole('figure', { name: 'Success rate' });
  await chart.waitFor();
  await photographInBothThemes(page, { path: join(images, 'dashboard.png'), last: chart });
}

/**
 * Photographs what an ended run has learned.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} url of the server
 * @param {string} images the directory of the pictures
 */
export async function photographLearned(page, url, images) {
  await page.goto(`${url}/live`);
  const card = page.getByRole('region', { name: 'What was learned' });
  await card
    .getByText(/^[\d,]{3,}$/)
    .nth(1)
    .waitFor();
  await page.waitForTimeout(SETTLE_MS);
  await card.screenshot({ path: join(images, 'learned.png') });
}

/**
 * Photographs an update that was replayed, with the episodes that fed it most.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} address of the update's page
 * @param {string} images the directory of the pictures
 */
export async function photographUpdate(page, address, images) {
  await page.goto(address);
  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  await page.getByText(/bit for bit$/).waitFor({ timeout: REPLAY_MS });
  const episodes = page.getByRole('region', { name: /^Episodes that fed update/ });
  const row = episodes.getByRole('row').nth(FEW_ROWS);
  await row.waitFor();
  await photographInBothThemes(page, { path: join(images, 'update.png'), last: row });
}

/**
 * Photographs metrics of a run and of one with another seed, as their mean.
 *
 * @param {import('playwright-core').Page} page
 * @param {{ readonly run: string, readonly otherId: string }} runs the address of the run's overview, and the id of the other run
 * @param {string} images the directory of the pictures
 */
export async function photographCompared(page, { run, otherId }, images) {
  await page.goto(`${run}/metrics?with=${otherId}&seeds=mean&q=train%2F`);
  await page
    .getByRole('region', { name: 'Results' })
    .getByRole('row', { name: /and 1 more run.*%/ })
    .waitFor();
  const chart = page.getByRole('figure', { name: 'train/gradientNorm' });
  await chart.waitFor();
  await photograph(page, { path: join(images, 'compare.png'), last: chart });
}

/**
 * Photographs the first steps of the episodes of a group, side by side.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} address of the page that shows the group
 * @param {string} images the directory of the pictures
 */
export async function photographGroup(page, address, images) {
  await page.goto(address);
  const step = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: /^Step 2/ }) });
  await step.waitFor();
  await photograph(page, { path: join(images, 'group.png'), last: step });
}

/**
 * Photographs the first steps of an episode, with the tokens of the first.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} address of the episode's page
 * @param {string} images the directory of the pictures
 */
export async function photographEpisode(page, address, images) {
  await page.goto(address);
  await page.getByRole('group', { name: 'Tokens of step 0' }).getByRole('button').last().hover();
  const step = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Step 2' }) });
  await photograph(page, { path: join(images, 'episode.png'), last: step });
}

/**
 * Photographs the result of the first example query.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} url of the server
 * @param {string} images the directory of the pictures
 */
export async function photographSql(page, url, images) {
  await page.goto(`${url}/sql`);
  await page.getByText('Does it learn?').click();
  await page.getByRole('button', { name: 'Success by policy version' }).click();
  await page.getByRole('region', { name: 'Query result' }).waitFor();
  await photograph(page, {
    path: join(images, 'sql.png'),
    last: page.getByRole('region', { name: 'Tables' }),
  });
}

/**
 * Takes a picture in light, and beside it one in dark, named `…-dark.png`.
 *
 * @param {import('playwright-core').Page} page in light
 * @param {{ path: string, last: import('playwright-core').Locator }} picture
 */
async function photographInBothThemes(page, { path, last }) {
  await photograph(page, { path, last });
  await page.emulateMedia({ colorScheme: 'dark' });
  try {
    await photograph(page, { path: path.replace(/\.png$/, '-dark.png'), last });
  } finally {
    await page.emulateMedia({ colorScheme: 'light' });
  }
}

/**
 * Takes a picture of the page from its top to the end of one element.
 *
 * @param {import('playwright-core').Page} page
 * @param {{ path: string, last: import('playwright-core').Locator }} picture
 */
async function photograph(page, { path, last }) {
  // Late metrics, fonts and the first frames of the charts.
  await page.waitForTimeout(SETTLE_MS);
  const box = await last.boundingBox();
  if (!box) throw new Error(`${path}: the element that ends the picture is not on the page`);
  const clip = {
    x: 0,
    y: 0,
    width: page.viewportSize()?.width ?? VIEWPORT.width,
    height: Math.ceil(box.y + box.height + MARGIN_PIXELS),
  };
  await page.screenshot({ path, clip, fullPage: true });
}

/**
 * Pictures what the window shows once nothing loads, and nothing of it changes any more: charts are drawn after their data have come. A page that has not arrived is still, too:
 * wait for something of it first.
 *
 * @param {import('playwright-core').Page} page
 * @throws {Error} where it never is the same twice
 */
export async function photographWhenStill(page) {
  await page
    .getByRole('status', { name: /^Loading/ })
    .first()
    .waitFor({ state: 'detached' });
  let last = await page.screenshot(STILL);
  for (let n = 0; n < MAX_FRAMES; n++) {
    await page.waitForTimeout(FRAME_MS);
    const next = await page.screenshot(STILL);
    if (next.equals(last)) return next;
    last = next;
  }
  throw new Error(`${page.url()} is still changing after ${(MAX_FRAMES * FRAME_MS) / 1000} s`);
}
