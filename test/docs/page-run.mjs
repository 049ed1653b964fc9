import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { COMMON_FILLS, PAGE_NEEDS } from './page-needs.mjs';
import { PLACEHOLDER, statementsOf } from './statements.mjs';

const PRINT_BLOCK = fileURLToPath(new URL('print-block.mjs', import.meta.url));
/** Commands that go on until they are stopped, and what they say when they are up. */
const SERVERS = [
  { command: /^(npm start|(npx )?retrace up)\b/, says: /the store is up/ },
  { command: /^(npx )?retrace serve\b/, says: /http:\/\/\S+\/v1/ },
  { command: /^(npx )?retrace proxy\b/, says: /http:\/\/\S+/ },
  { command: /^tensorboard\b/, says: /http:\/\/\S+/ },
];
/** npm and npx end with the signal that they pass on. */
const STOPPED = [0, 130];
const SERVER = { statement: 'retrace up --no-training', says: SERVERS[0].says };

/** Runs the blocks of one page in order, in the same folder and terminal. */
export class PageRun {
  /** @type {import('./terminal.mjs').Terminal[]} */
  terminals = [];
  /** Servers that stay up until the end of the page. @type {{ statement: string, stop: () => Promise<import('./terminal.mjs').Ended> }[]} */
  servers = [];
  /** @type {Map<string, { folder: string, terminal: import('./terminal.mjs').Terminal }>} */
  #opened = new Map();

  /** @param {string} page @param {import('./places.mjs').Places} places */
  constructor(page, places) {
    this.page = page;
    this.places = places;
    this.needs = PAGE_NEEDS[page] ?? {};
    this.printed = join(places.logs, `${basename(page, '.md')}.printed`);
    writeFileSync(this.printed, '');
  }

  /**
   * Runs the statements of a block; yields each with its fault, null where it did as it must.
   *
   * @param {import('./blocks.mjs').Block} block
   */
  async *block(block) {
    const [begins] = block.text.split('\n');
    const needs = this.needs.blocks?.[begins] ?? {};
    const fills = { ...COMMON_FILLS, ...this.needs.fills, ...needs.fills };
    const opened = await this.terminalFor(needs.checkout ?? this.needs.checkout ?? false);
    await prepare(opened.terminal, needs.prepare ?? []);
    for (const printed of statementsOf(block.text)) {
      const startedAt = performance.now();
      const fault = await this.fill(printed, fills, opened.terminal)
        .then((statement) => this.runStatement(statement, needs, opened))
        .catch((error) => error.message);
      yield { statement: printed, seconds: (performance.now() - startedAt) / 1000, fault };
    }
  }

  /** Opens the page's terminal with what the page presumes, or gives the open one. @param {boolean} isCheckout */
  async terminalFor(isCheckout) {
    const known = this.#opened.get(`${isCheckout}`);
    if (known !== undefined) return known;
    const { places, needs } = this;
    const name = basename(this.page, '.md').toLowerCase();
    const folder = isCheckout
      ? places.checkoutFolder()
      : needs.installs
        ? places.folderWithPackages(name)
        : places.folderOf(name);
    const opened = { folder, terminal: this.open(folder) };
    this.#opened.set(`${isCheckout}`, opened);
    await prepare(opened.terminal, needs.prepare ?? []);
    if (needs.server) await this.startServer(this.open(folder), SERVER.statement, SERVER.says);
    return opened;
  }

  /** @param {string} folder */
  open(folder) {
    const print = `node ${PRINT_BLOCK} ${this.page}`;
    const terminal = this.places.openTerminal(folder, {
      ...{ PRINTED: this.printed, PRINT_BLOCK: print },
      ...(this.needs.set && { RETRACE_SET: this.needs.set.join('\n') }),
    });
    this.terminals.push(terminal);
    return terminal;
  }

  /** @param {import('./terminal.mjs').Terminal} terminal @param {string} statement @param {RegExp} says */
  async startServer(terminal, statement, says) {
    const server = await terminal.startServer(statement, says);
    this.servers.push({ statement, ...server });
  }

  /** Fills in what a reader must. */
  async fill(printed, fills, terminal) {
    let statement = printed;
    for (const [placeholder, command] of Object.entries(fills)) {
      if (!statement.includes(placeholder)) continue;
      const { status, stdout, stderr } = await terminal.run(command);
      const value = stdout.trim();
      if (status !== 0 || value === '') throw new Error(`nothing for ${placeholder}: ${stdout}${stderr}`);
      statement = statement.replaceAll(placeholder, value);
    }
    const [left] = statement.replaceAll(/\s#\s.*$/gm, '').match(PLACEHOLDER) ?? [];
    if (left !== undefined || statement.replaceAll(/\s#\s.*$/gm, '').includes('…'))
      throw new Error(`page-needs.mjs does not say what stands for ${left ?? '…'}`);
    return statement;
  }

  /** @returns {Promise<string | null>} the fault */
  async runStatement(statement, { until, stays = false }, { folder, terminal }) {
    const known = SERVERS.find(({ command }) => command.test(statement));
    if (known === undefined || /--help\b/.test(statement)) {
      const ended = await terminal.run(statement);
      writeFileSync(this.printed, ended.stdout, { flag: 'a' });
      return faultOf(ended, [0]);
    }
    const says = until ?? known.says;
    if (stays) {
      await this.startServer(this.open(folder), statement, says);
      return null;
    }
    const server = await terminal.startServer(statement, says);
    return faultOf(await server.stop(), STOPPED);
  }

  /** Stops what still runs; returns faults. */
  async close() {
    const faults = [];
    for (const { statement, stop } of this.servers.reverse()) {
      const fault = await stop().then(
        (ended) => faultOf(ended, STOPPED),
        (error) => error.message,
      );
      if (fault !== null) faults.push(`${statement}\n${fault}`);
    }
    for (const terminal of this.terminals) await terminal.close();
    return faults;
  }
}

/** @param {import('./terminal.mjs').Terminal} terminal @param {readonly string[]} commands */
async function prepare(terminal, commands) {
  for (const command of commands) {
    const ended = await terminal.run(command);
    if (ended.status !== 0) throw new Error(`${command}: ${ended.stdout.slice(-2000)}${ended.stderr}`);
  }
}

/** @param {import('./terminal.mjs').Ended} ended @param {readonly number[]} expected */
function faultOf({ status, stdout, stderr }, expected) {
  const complaint = stderr.split('\n').find((line) => /\berror\b/i.test(line));
  if (expected.includes(status) && complaint === undefined) return null;
  return `ended with ${status}:\n${stdout.slice(-3000)}\n${stderr.slice(-3000)}`;
}
