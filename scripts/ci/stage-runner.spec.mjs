import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { countTests, figuresOf } from './seconds.mjs';
import { runStages } from './stage-runner.mjs';

const node = (/** @type {string} */ script) => /** @type {const} */ ([process.execPath, '-e', script]);

describe('stages of CI', () => {
  let folder = '';
  let printed = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'retrace-stages-'));
    printed = '';
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  const run = (/** @type {readonly import('./stage-runner.mjs').Stage[]} */ stages, cores = 2) =>
    runStages(stages, {
      cores,
      root: folder,
      outputs: join(folder, 'outputs'),
      print: (text) => (printed += text),
    });
  const outcomes = async (/** @type {Parameters<typeof run>} */ ...args) =>
    (await run(...args)).map(({ name, outcome }) => `${name} ${outcome}`);
  const note = (/** @type {string} */ text) =>
    node(`require('fs').appendFileSync('order', ${JSON.stringify(text)})`);

  it('one that waits for others begins after them, and those after it in the list do not wait for it', async () => {
    const stages = [
      { name: 'last', command: note('c'), after: ['first', 'second'] },
      { name: 'first', command: note('a') },
      { name: 'second', command: note('b'), after: ['first'] },
    ];
    expect(await outcomes(stages)).toEqual(['last passed', 'first passed', 'second passed']);
    expect(readFileSync(join(folder, 'order'), 'utf8')).toBe('abc');
  });

  const ENDS_AFTER_BROKEN = `const looking = setInterval(() => {
    if (!fs.existsSync('broken')) return;
    clearInterval(looking);
    setTimeout(() => console.log('slow said so'), 1500);
  }, 20)`;

  it('none begins after one has failed; those that run then end, and the output of each is printed', async () => {
    const stages = [
      { name: 'slow', command: node(ENDS_AFTER_BROKEN) },
      {
        name: 'broken',
        command: node("console.error('broken said so'); fs.mkdirSync('broken'); process.exit(3)"),
      },
      { name: 'never', command: note('x'), after: ['slow'] },
      { name: 'not there', command: /** @type {const} */ (['./no-such-program']), after: ['never'] },
    ];
    expect(await outcomes(stages)).toEqual([
      'slow passed',
      'broken failed',
      'never skipped',
      'not there skipped',
    ]);
    expect(printed).toContain('slow said so');
    expect(printed).toContain('broken said so');
    expect(await outcomes([{ name: 'not there', command: ['./no-such-program'] }])).toEqual([
      'not there failed',
    ]);
  });

  it('no more run at once than processors allow; one that asks for more than there are runs alone', async () => {
    const alone = (/** @type {string} */ name, cores = 1) => ({
      name,
      cores,
      command: node(
        `const fs = require('fs'); fs.mkdirSync('alone'); setTimeout(() => fs.rmdirSync('alone'), 50);`,
      ),
    });
    expect(await outcomes([alone('a'), alone('b', 4), alone('c')], 1)).toEqual([
      'a passed',
      'b passed',
      'c passed',
    ]);
  });

  it.runIf(process.platform === 'linux')(
    'say how long they kept processors busy, with their children',
    async () => {
      const busy = 'while (process.cpuUsage().user < 600_000);';
      const inChild = `require('child_process').spawnSync(process.execPath, ['-e', ${JSON.stringify(busy)}])`;
      const [waits, works] = await run([
        { name: 'waits', command: node('setTimeout(() => {}, 1500)') },
        { name: 'works', command: node(inChild) },
      ]);
      expect(works.processorSeconds).toBeGreaterThan((waits.processorSeconds ?? Infinity) + 0.1);
    },
  );

  it('count as one each beside the tests; the table lists stages, then the costliest specs', () => {
    /** @type {import('./stage-runner.mjs').StageResult[]} */
    const stages = [
      { name: 'types', outcome: 'passed', seconds: 60.4, processorSeconds: 41.6 },
      { name: 'tests', outcome: 'failed', seconds: 10, processorSeconds: 0.2 },
      { name: 'smoke', outcome: 'skipped', seconds: 0, processorSeconds: null },
    ];
    const specs = [
      { file: 'waits', project: 'p', seconds: 9, processorSeconds: 1 },
      { file: 'works', project: 'p', seconds: 3, processorSeconds: 3 },
      { file: 'unknown', project: 'p', seconds: 2, processorSeconds: null },
    ];
    const reports = [{ passed: 5, failed: 1, skipped: 2, specs }];
    expect(countTests(stages, reports)).toEqual({ passed: 6, failed: 2, skipped: 3 });
    const { figures } = figuresOf(stages, reports, 100);
    expect(figures.slice(4).map(({ name, value }) => [name, value])).toEqual([
      ...[
        ['stage: types', 60],
        ['stage: tests', 10],
        ['stage: smoke', 0],
        ['processor time of types', 42],
      ],
      ...[
        ['works', 3],
        ['unknown', 2],
        ['waits', 1],
      ],
    ]);
  });
});
