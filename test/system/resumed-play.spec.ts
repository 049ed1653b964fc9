import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { DataDirectories, root, runRetrace, startRetrace } from '../support/cli.mjs';

const NUM_TASKS = 30;
const NUM_ATTEMPTS = 2;
/** In the middle of the second policy. */
const MOST_BEGUN = 1.5 * NUM_TASKS * NUM_ATTEMPTS;

interface Report {
  readonly playId: string;
  readonly isComplete: boolean;
  readonly runs: readonly { readonly numPlanned: number; readonly numEnded: number }[];
}

describe('retrace play --resume', { timeout: 300_000 }, () => {
  const directories = new DataDirectories();
  afterAll(() => {
    directories.removeAll();
  });

  /** An environment that writes a letter for each episode that begins, and makes no step once there are `MOST_BEGUN`, until it may go on. */
  function heldEnvironment() {
    const directory = directories.make();
    const [begun, mayGoOn] = [join(directory, 'begun'), join(directory, 'may-go-on')];
    const text = readFileSync(join(root, 'test/support/twenty-one.ts'), 'utf8')
      .replace(
        'import type',
        "import { appendFileSync, existsSync, readFileSync } from 'node:fs';\nimport type",
      )
      .replace('this.sum = start;', `appendFileSync(${JSON.stringify(begun)}, 'x');\n    this.sum = start;`)
      .replace(
        'step(action: string): StepResult {',
        `async step(action: string): Promise<StepResult> {
    while (readFileSync(${JSON.stringify(begun)}).length >= ${MOST_BEGUN} && !existsSync(${JSON.stringify(mayGoOn)}))
      await new Promise((resolve) => setTimeout(resolve, 20));`,
      );
    const file = join(directory, 'held.ts');
    writeFileSync(file, text);
    return {
      file,
      numBegun: () => (existsSync(begun) ? readFileSync(begun, 'utf8').length : 0),
      letGoOn: () => {
        writeFileSync(mayGoOn, '');
      },
    };
  }

  it.each(['SIGINT', 'SIGKILL'] as const)(
    'goes on after %s: plays no attempt again that has ended, and leaves none out',
    async (signal) => {
      const { file, numBegun, letGoOn } = heldEnvironment();
      const data = ['--data-dir', directories.make()];
      const playing = startRetrace([
        ...['play', '--environment', file, '--policy', 'random', '--policy', 'careful'],
        ...['--tasks', String(NUM_TASKS), '--attempts', String(NUM_ATTEMPTS), '--concurrency', '4', ...data],
      ]);
      while (numBegun() < MOST_BEGUN) await sleep(20);
      const ended = signal === 'SIGKILL' ? playing.killTree() : playing.stop(signal);
      // A step in flight ends before a command that is told to stop.
      letGoOn();
      await ended;
      const before = await endedAttempts(data);
      expect(before.length).toBeGreaterThan(NUM_TASKS * NUM_ATTEMPTS);
      expect(before.length).toBeLessThan(2 * NUM_TASKS * NUM_ATTEMPTS);

      const begunBefore = numBegun();
      const resumed = await runRetrace(['play', '--resume', 'latest', '--json', ...data]);
      expect(resumed.code, resumed.stderr).toBe(0);
      const report = JSON.parse(resumed.stdout) as Report;
      expect(report.isComplete).toBe(true);
      const after = await endedAttempts(data);
      expect(after).toHaveLength(2 * NUM_TASKS * NUM_ATTEMPTS);
      expect(new Set(after.map((attempt) => JSON.stringify(attempt))).size).toBe(after.length);
      expect(numBegun() - begunBefore).toBe(after.length - before.length);

      const again = await runRetrace(['play', '--resume', report.playId, ...data]);
      expect(again.code, again.stderr).toBe(0);
      expect(await endedAttempts(data)).toHaveLength(after.length);
    },
  );

  /** Policy, task and attempt of each episode that has ended. */
  async function endedAttempts(data: readonly string[]): Promise<readonly object[]> {
    const query = `
      SELECT r.name AS policy, JSONExtractInt(e.metadata, 'play', 'task') AS task, JSONExtractInt(e.metadata, 'play', 'attempt') AS attempt
      FROM episodes AS e JOIN runs AS r ON r.run_id = e.run_id
      WHERE e.sealed AND e.end_reason != 'abandoned' ORDER BY policy, task, attempt`;
    const { code, stdout, stderr } = await runRetrace(['sql', query, '--format', 'json', ...data]);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout) as readonly object[];
  }
});
