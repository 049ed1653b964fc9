import { chromium } from 'playwright-core';

/** Records the text and the dashed lines that are drawn on canvases: the baselines of a chart are not in the DOM. */
const RECORD_DRAWN_TEXT = `
  window.drawnTexts = [];
  window.numDashedLines = 0;
  const { fillText, stroke } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
    window.drawnTexts.push(String(text));
    return fillText.call(this, text, ...place);
  };
  CanvasRenderingContext2D.prototype.stroke = function (...path) {
    if (this.getLineDash().length > 0) window.numDashedLines += 1;
    return stroke.apply(this, path);
  };
`;

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
    await page.addInitScript(RECORD_DRAWN_TEXT);
    return new DashboardBrowser(browser, page);
  }

  /**
   * Returns what the charts of this page have drawn so far.
   *
   * @returns {Promise<{ texts: string[], numDashedLines: number }>}
   */
  drawn() {
    return this.page.evaluate('({ texts: window.drawnTexts, numDashedLines: window.numDashedLines })');
  }

  async close() {
    await this.browser.close();
  }
}
