import axe from 'axe-core';
import { chromium } from 'playwright-core';

/** Records the text and the dashed lines that are drawn on canvases: ticks and baselines of a chart are not in the DOM. */
const RECORD_DRAWN_TEXT = `
  window.drawnTexts = [];
  window.cutTexts = [];
  window.numDashedLines = 0;
  const { fillText, stroke } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
    window.drawnTexts.push(String(text));
    const box = this.measureText(text);
    const corners = [
      [x - box.actualBoundingBoxLeft, y - box.actualBoundingBoxAscent],
      [x + box.actualBoundingBoxRight, y + box.actualBoundingBoxDescent],
    ].map(([cornerX, cornerY]) => this.getTransform().transformPoint({ x: cornerX, y: cornerY }));
    const { width, height } = this.canvas;
    if (corners.some((corner) => corner.x < 0 || corner.y < 0 || corner.x > width || corner.y > height))
      window.cutTexts.push(String(text));
    return fillText.call(this, text, x, y, ...more);
  };
  CanvasRenderingContext2D.prototype.stroke = function (...path) {
    if (this.getLineDash().length > 0) window.numDashedLines += 1;
    return stroke.apply(this, path);
  };
`;

/** CSS pixels of common phones. */
export const PHONE_WIDTH = 390;

/** WCAG 2.2 at levels A and AA, and good practice. */
const AXE_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** A page of the dashboard in a real browser, with the errors, warnings and failed responses that the browser reported. */
export class DashboardBrowser {
  /** @type {string[]} */
  complaints = [];
  /** @private */
  browser;

  /**
   * @param {import('playwright-core').Browser} browser
   * @param {import('playwright-core').Page} page
   */
  constructor(browser, page) {
    this.browser = browser;
    this.page = page;
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.complaints.push(message.text());
    });
    page.on('response', (response) => {
      if (response.status() >= 400) this.complaints.push(`${response.status()} of ${response.url()}`);
    });
  }

  /**
   * Opens an empty page in a new browser.
   *
   * @param {string} executablePath the browser, for example of `findBrowser`
   */
  static async open(executablePath) {
    const browser = await chromium.launch({ executablePath });
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    // A click that expands an operation of the API takes 1.7 s on a quiet machine, and took more than 20 beside the other tests.
    page.setDefaultTimeout(120_000);
    await page.addInitScript(RECORD_DRAWN_TEXT);
    return new DashboardBrowser(browser, page);
  }

  /**
   * Starts to count what comes over the wire, headers included.
   *
   * @returns {Promise<Map<string, number>>} bytes by address, filled as answers end; an address that is asked again and again counts once
   */
  async countBytes() {
    const session = await this.page.context().newCDPSession(this.page);
    const urls = new Map();
    const bytes = new Map();
    session.on('Network.requestWillBeSent', ({ requestId, request }) => urls.set(requestId, request.url));
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const url = urls.get(requestId);
      bytes.set(url, Math.max(bytes.get(url) ?? 0, encodedDataLength));
    });
    await session.send('Network.enable');
    return bytes;
  }

  /**
   * Returns what the charts of this page have drawn so far; `cutTexts` are the texts that go over the edge of their canvas.
   *
   * @returns {Promise<{ texts: string[], cutTexts: string[], numDashedLines: number }>}
   */
  drawn() {
    return this.page.evaluate(
      '({ texts: window.drawnTexts, cutTexts: window.cutTexts, numDashedLines: window.numDashedLines })',
    );
  }

  /**
   * Measures the page on a phone, whose width it must not exceed, and goes back to the width that it had.
   *
   * @returns {Promise<number>} in pixels; PHONE_WIDTH where everything fits or scrolls in a box of its own
   */
  async widthOnPhone() {
    const size = this.page.viewportSize() ?? { width: 1280, height: 900 };
    await this.page.setViewportSize({ ...size, width: PHONE_WIDTH });
    // Charts take their new width in the frame after the page has its own.
    await this.page.evaluate(
      'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
    );
    /** @type {number} */
    const width = await this.page.evaluate('document.documentElement.scrollWidth');
    await this.page.setViewportSize(size);
    return width;
  }

  /**
   * Checks the page with axe-core, and its width on a phone.
   *
   * @returns {Promise<string[]>} each fault with its rule, element and reason
   */
  async accessibilityFaults() {
    await this.page.evaluate(axe.source);
    /** @type {axe.AxeResults} */
    const { violations } = await this.page.evaluate(`axe.run(${JSON.stringify({ runOnly: AXE_RULES })})`);
    const faults = violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target} ${failureSummary}`),
    );
    const width = await this.widthOnPhone();
    return width > PHONE_WIDTH ? [...faults, `the page is ${width} pixels wide on a phone`] : faults;
  }

  async close() {
    await this.browser.close();
  }
}
