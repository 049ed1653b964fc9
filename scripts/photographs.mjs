/** The pictures of the pages in `docs/images`: `npm run screenshots` takes them of a run that learns, and the browser's specs of any run. */
import { join } from 'node:path';

const SETTLE_MS = 1_500;
const MARGIN_PIXELS = 8;
export const VIEWPORT = { width: 1400, height: 900 };

/**
 * Photographs the overview of the run down to the first row of small charts.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} url of the server
 * @param {string} images the directory of the pictures
 */
export async function photographRun(page, url, images) {
  await page.goto(`${url}/live`);
  const chart = page.getByRole('figure', { name: 'Return' });
  await chart.waitFor();
  await photograph(page, { path: join(images, 'dashboard.png'), last: chart });
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
