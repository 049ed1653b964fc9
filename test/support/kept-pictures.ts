import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type Locator, type Page } from 'playwright-core';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { photographWhenStill } from '../../scripts/photographs.mjs';
import { root } from './cli.mjs';

const DIRECTORY = join(root, 'test', 'golden', 'pictures');
const DRAWN_BY = join(DIRECTORY, 'drawn-by.json');
/** Pixels; the part of a page that a picture shows. */
const VIEWPORT = { width: 1000, height: 700 };
/** Difference of two colors that counts, from 0 to 1. */
const COLOR_TOLERANCE = 0.1;
/** Share of the pixels that may differ. */
const MAX_DIFFERING_FRACTION = 0.0002;

/** For pictures that can't be compared. */
const HOW_TO_TAKE =
  'at a commit whose pages are known to be right, take them again: rm -r test/golden/pictures, then RETRACE_TESTS=system npx vitest run test/system/pictures.spec.ts';

/** The browser and the fonts that drew the pictures: others give another picture of the same page. */
interface DrawnBy {
  readonly browser: string;
  /** Digest of a line of text in both fonts of the pages. */
  readonly fonts: string;
}

/** Pages as pictures, compared with those that are kept in `test/golden/pictures`. */
export class KeptPictures {
  private constructor(
    private readonly browser: Browser,
    readonly page: Page,
  ) {}

  static async open(executablePath: string): Promise<KeptPictures> {
    const browser = await chromium.launch({ executablePath });
    const page = await browser.newPage({
      ...{ viewport: VIEWPORT, timezoneId: 'UTC', locale: 'en-US', reducedMotion: 'reduce' },
    });
    page.setDefaultTimeout(60_000);
    return new KeptPictures(browser, page);
  }

  /** Tells why the kept pictures can't be compared with those of this browser; null where they can, or where none are kept. */
  async whyNotComparable(): Promise<string | null> {
    const here = await this.drawnBy();
    if (!existsSync(DRAWN_BY)) {
      mkdirSync(DIRECTORY, { recursive: true });
      writeFileSync(DRAWN_BY, `${JSON.stringify(here, null, 2)}\n`);
      return null;
    }
    const kept = JSON.parse(readFileSync(DRAWN_BY, 'utf8')) as DrawnBy;
    if (here.browser !== kept.browser)
      return `the kept pictures were drawn by Chromium ${kept.browser}, and this is ${here.browser}; ${HOW_TO_TAKE}`;
    return here.fonts === kept.fonts
      ? null
      : `the fonts here are others than those of the kept pictures, or are drawn otherwise; ${HOW_TO_TAKE}`;
  }

  /**
   * Takes a picture of the page and compares it with the kept one.
   *
   * @param last what comes last of what the picture shows
   * @returns what is wrong; null where hardly a pixel differs
   */
  async faultOf(name: string, last: Locator): Promise<string | null> {
    await last.first().waitFor();
    await photographWhenStill(this.page);
    await replaceWhatVaries(this.page);
    const taken = await photographWhenStill(this.page);
    const kept = join(DIRECTORY, `${name}.png`);
    if (!existsSync(kept)) {
      writeFileSync(kept, taken);
      return `${name} was not kept, and has been taken now: look at test/golden/pictures/${name}.png`;
    }
    const [expected, actual] = [PNG.sync.read(readFileSync(kept)), PNG.sync.read(taken)];
    const { width, height } = expected;
    if (actual.width !== width || actual.height !== height)
      return `${name} has ${actual.width} × ${actual.height} pixels, must have ${width} × ${height}`;
    const difference = new PNG({ width, height });
    const options = { threshold: COLOR_TOLERANCE };
    const numDiffering = pixelmatch(expected.data, actual.data, difference.data, width, height, options);
    if (numDiffering <= MAX_DIFFERING_FRACTION * width * height) return null;
    const seen = join(tmpdir(), `retrace-${name}`);
    writeFileSync(`${seen}.png`, taken);
    writeFileSync(`${seen}-difference.png`, PNG.sync.write(difference));
    return `${name} differs from the kept picture in ${numDiffering} pixels; see ${seen}.png and ${seen}-difference.png`;
  }

  async close(): Promise<void> {
    await this.browser.close();
  }

  /** The fonts are those of the page that is open. */
  private async drawnBy(): Promise<DrawnBy> {
    const drawn: string = await this.page.evaluate(`(() => {
      const canvas = document.createElement('canvas');
      const context = canvas.getContext('2d');
      const style = getComputedStyle(document.documentElement);
      for (const [i, name] of ['--font', '--font-mono'].entries()) {
        context.font = '600 14px ' + style.getPropertyValue(name);
        context.fillText('Retrace 0123456789 → ☆ gradientNorm', 4, 20 + 30 * i);
      }
      return canvas.toDataURL();
    })()`);
    return {
      browser: this.browser.version(),
      fonts: createHash('sha256').update(drawn).digest('hex').slice(0, 16),
    };
  }
}

/** Puts fixed texts in the place of ids, which are new each time, of how long ago something was, and of how long a query took. */
async function replaceWhatVaries(page: Page): Promise<void> {
  await page.evaluate(`(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const text = node.data
        .replace(/\\b[0-9a-f]{8}\\b/g, '00000000')
        .replace(/\\d+ \\w+ ago/g, '1 day ago')
        .replace(/\\d[\\d,.]* ms\\b/g, '1 ms');
      if (text !== node.data) node.data = text;
    }
  })()`);
}
