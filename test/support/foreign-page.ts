import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium, type Browser, type Page } from 'playwright-core';
import { expect, vi } from 'vitest';

/** A name that the browser resolves to this machine, as the owner of a page could make its own name do. */
export const FOREIGN_NAME = 'evil.example';

/** Chromium's own rules for pages that reach into a local network, which other browsers don't have. */
const OFF = 'LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests,PrivateNetworkAccessSendPreflights';

/** A request as a server got it. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

/** A server that answers everything, and keeps what it was asked. */
export class WitnessServer {
  readonly seen: SeenRequest[] = [];

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  static async start(): Promise<WitnessServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const witness = new WitnessServer(server, (server.address() as AddressInfo).port);
    server.on('request', ({ method = '', url = '', headers }, response) => {
      witness.seen.push({ method, url, headers });
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>a page</title>');
    });
    return witness;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** An answer that the browser got, which it may not show to the page. */
interface PageAnswer {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  /** Whether a frame was to show it, which tells its page nothing of the end. */
  readonly isFrame: boolean;
}

/** The requests that a page makes of a server. */
export interface Attack {
  readonly url: string;
  /** Paths that it gets, by every way that a page has. */
  readonly gets: readonly string[];
  /** Paths and bodies that it posts, as text and as forms. */
  readonly posts: readonly (readonly [path: string, body: string])[];
  /** Path of a WebSocket. */
  readonly socket: string;
  /** Whether it uses frames and forms too, which the page of a server with a content security policy can't (default true). */
  readonly usesFrames?: boolean;
}

/** A page of another origin in a real browser. */
export class ForeignPage {
  private readonly answers: PageAnswer[] = [];

  private constructor(
    private readonly browser: Browser,
    private readonly page: Page,
  ) {
    page.context().on('response', (response) => {
      this.answers.push({
        method: response.request().method(),
        url: response.url(),
        status: response.status(),
        isFrame: response.request().resourceType() === 'document',
      });
    });
  }

  /** @param executablePath the browser, for example of `findBrowser` */
  static async open(executablePath: string): Promise<ForeignPage> {
    const browser = await chromium.launch({
      executablePath,
      args: [`--host-resolver-rules=MAP ${FOREIGN_NAME} 127.0.0.1`, `--disable-features=${OFF}`],
    });
    return new ForeignPage(browser, await browser.newPage());
  }

  /** Opens an address as a person does who types it. @returns the status */
  async visit(url: string): Promise<number> {
    const response = await this.page.goto(url);
    return response?.status() ?? 0;
  }

  /** Clicks on a link of the page. @returns the status of the page that it leads to */
  async follow(url: string): Promise<number> {
    await this.page.evaluate(`document.body.innerHTML = '<a href=${JSON.stringify(url)}>a link</a>'`);
    const [response] = await Promise.all([
      this.page.waitForResponse((answer) => answer.url() === url),
      this.page.click('a'),
    ]);
    return response.status();
  }

  /** Makes all requests of an attack from the page that is open, and waits for their ends. @returns the answers, and whether a WebSocket opened */
  async attack(attack: Attack): Promise<{ answers: readonly PageAnswer[]; hasSocket: boolean }> {
    this.answers.length = 0;
    const hasSocket: boolean = await this.page.evaluate(ATTACK(attack));
    const { gets, posts, usesFrames = true } = attack;
    const numFrames = usesFrames ? gets.length + 2 * posts.length : 0;
    await vi.waitFor(
      () => {
        expect(this.answers.filter(({ isFrame }) => isFrame)).toHaveLength(numFrames);
      },
      { timeout: 120_000 },
    );
    return { answers: this.answers.filter(({ url }) => url.startsWith(attack.url)), hasSocket };
  }

  async close(): Promise<void> {
    await this.browser.close();
  }
}

/** A script of the page: requests that need no preflight, some that do, forms, images, frames and a WebSocket. */
const ATTACK = (attack: Attack): string => `(async ({ url, gets, posts, socket, usesFrames = true }) => {
  const settled = (promise) => promise.then(() => true, () => true);
  const event = (target, names) => new Promise((done) => names.forEach((name) => target.addEventListener(name, () => done(name))));
  const added = (tag, fields) => {
    const element = Object.assign(document.createElement(tag), fields);
    const ended = event(element, ['load', 'error']);
    document.body.append(element);
    return ended;
  };
  const form = (action, body, enctype) => {
    const frame = document.createElement('iframe');
    frame.name = 'frame' + Math.random();
    document.body.append(frame);
    const sent = Object.assign(document.createElement('form'), { action, method: 'post', enctype, target: frame.name });
    sent.append(Object.assign(document.createElement('input'), { name: body, value: '' }));
    document.body.append(sent);
    sent.submit();
  };
  for (const path of gets) {
    await settled(fetch(url + path, { mode: 'no-cors' }));
    await settled(fetch(url + path));
    await added('img', { src: url + path });
    await added('script', { src: url + path });
    if (usesFrames) document.body.append(Object.assign(document.createElement('iframe'), { src: url + path }));
  }
  for (const [path, body] of posts) {
    await settled(fetch(url + path, { method: 'POST', mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body }));
    await settled(fetch(url + path, { method: 'POST', mode: 'no-cors', body: new URLSearchParams({ body }) }));
    await settled(fetch(url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body }));
    if (!usesFrames) continue;
    form(url + path, body, 'text/plain');
    form(url + path, body, 'application/x-www-form-urlencoded');
  }
  return (await event(new WebSocket(url.replace('http', 'ws') + socket), ['open', 'error'])) === 'open';
})(${JSON.stringify(attack)})`;
