/** An animated picture: from a dip of a curve to its cause. `npm run screenshots` takes it of a run that learns, and the browser's specs of any run. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { joinPngs } from './animated-png.mjs';
import { shareOnePalette } from './palette-png.mjs';
import { photographWhenStill } from './photographs.mjs';

const VIEWPORT = { width: 1080, height: 640 };
/** How long a new page, a place that is clicked, and the end are shown. */
const ARRIVAL_MS = 1_200;
const POINTING_MS = 1_800;
const END_MS = 4_000;
const METRICS = ['rollout/success', 'validation/success'];

/**
 * Photographs the way from a dip of the success rate to its cause in three clicks: the update, the episode with the largest share in it, its last token.
 *
 * @param {import('playwright-core').Page} page
 * @param {string} url of the server
 * @param {string} images the directory in which `dip-to-tokens.png` is written
 */
export async function photographTour(page, url, images) {
  const before = page.viewportSize() ?? VIEWPORT;
  await page.setViewportSize(VIEWPORT);
  try {
    const frames = await photographFrames(page, url);
    const pngs = shareOnePalette(frames.map(({ png }) => png));
    const joined = joinPngs(frames.map((frame, i) => ({ ...frame, png: pngs[i] })));
    writeFileSync(join(images, 'dip-to-tokens.png'), joined);
  } finally {
    await page.setViewportSize(before);
  }
}

/** @param {import('playwright-core').Page} page @param {string} url of the server */
async function photographFrames(page, url) {
  await page.goto(`${url}/live`);
  const plot = page.getByRole('figure', { name: 'Success rate' }).locator('.u-over');
  await plot.waitFor();
  const { update, place } = await findDip(url);
  const tour = new Tour(page);
  await tour.arrive();
  await tour.click(plot, place);
  await page.getByRole('heading', { name: `Update ${update}`, exact: true }).waitFor();
  await tour.arrive();
  await tour.click(
    page
      .getByRole('region', { name: /^Episodes that fed update/ })
      .getByRole('link')
      .first(),
  );
  const tokens = page.getByRole('group', { name: /^Tokens of step \d+$/ }).last();
  await tokens.waitFor();
  await tour.arrive();
  await tour.click(tokens.getByRole('button').last());
  await tour.arrive(END_MS);
  return tour.frames;
}

/** Frames of what a reader sees and does. */
class Tour {
  /** @type {{ png: Buffer, milliseconds: number }[]} */
  frames = [];

  /** @param {import('playwright-core').Page} page */
  constructor(page) {
    this.page = page;
  }

  /** @param {number} [milliseconds] that it is shown */
  async arrive(milliseconds = ARRIVAL_MS) {
    this.frames.push({ png: await photographWhenStill(this.page), milliseconds });
  }

  /**
   * Clicks, after a frame that shows where.
   *
   * @param {import('playwright-core').Locator} target
   * @param {{ x: number, y: number }} [place] shares of its width and height, from the left and the top
   */
  async click(target, place = { x: 0.5, y: 0.5 }) {
    await target.evaluate((element) => element.scrollIntoView({ block: 'center' }));
    const box = await target.boundingBox();
    if (box === null) throw new Error('what the tour clicks is not on the page');
    const [x, y] = [box.x + box.width * place.x, box.y + box.height * place.y];
    await this.page.mouse.move(x, y);
    const marker = await this.page.addStyleTag({
      // A picture of a page does not show the pointer.
      content: `body::after { content: ''; position: fixed; left: ${x - 13}px; top: ${y - 13}px; width: 20px; height: 20px; border: 3px solid #e0245e; border-radius: 50%; pointer-events: none; z-index: 1000; }`,
    });
    await this.arrive(POINTING_MS);
    await marker.evaluate((element) => {
      element.remove();
    });
    await this.page.mouse.click(x, y);
  }
}

/**
 * Finds the update at which the success of the newest run's rollouts fell most.
 *
 * @param {string} url of the server
 * @returns {Promise<{ update: number, place: { x: number, y: number } }>} with its place in the chart of the success rate
 */
async function findDip(url) {
  const response = await fetch(`${url}/api/runs/latest/metrics?names=${METRICS.join(',')}`);
  if (!response.ok) throw new Error(`no metrics of the newest run: ${await response.text()}`);
  /** @type {{ series: { name: string, steps: number[], values: number[] }[] }} */
  const { series } = await response.json();
  const rollouts = series.find(({ name }) => name === METRICS[0]);
  if (rollouts === undefined || rollouts.steps.length < 2)
    throw new Error('the newest run has fewer than two updates, so its curve has no dip');
  const { steps, values } = rollouts;
  const falls = values.slice(1).map((value, i) => values[i] - value);
  const at = falls.indexOf(Math.max(...falls)) + 1;
  const update = steps[at];
  // The chart has both curves.
  const drawn = series.flatMap((each) => each.steps);
  const [first, last] = [Math.min(...drawn), Math.max(...drawn)];
  return { update, place: { x: inside((update - first) / (last - first)), y: inside(1 - values[at]) } };
}

/** A point on the edge of the chart would be clicked beside it. @param {number} share */
function inside(share) {
  return Math.min(0.99, Math.max(0.01, share));
}
