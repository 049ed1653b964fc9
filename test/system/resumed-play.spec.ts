import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { DataDirectories, root, runRetrace, startRetrace } from '../support/cli.mjs';

const NUM_TASKS = 30;
const NUM_ATTEMPTS = 2;

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

  /** An environment that takes its time, and writes a line for each episode that begins. */
  function slowEnvironment() {
    const directory = directories.make();
    const begun = join(directory, 'begun');
    const text = readFileSync(join(root, 'test/support/twenty-one.ts'), 'utf8')
      .replace('import type', "import { appendFileSync } from 'node:fs';\nimport type")
      .replace('this.sum = start;', `appendFileSync(${JSON.stringify(begun)}, 'x');\n    this.sum = start;`)
      .replace(
        'step(action: string): StepResult {',
        'async step(action: string): Promise<StepResult> {\n    await new Promise((resolve) => setTimeout(resolve, 60));',
      );
    const file = join(directory, 'slow.ts');
    writeFileSync(file, text);
    return { file, numBegun: () => (existsSync(begun) ? readFileSync(begun, 'utf8').length : 0) };
  }

  it.each(['SIGINT', 'SIGKILL'] as const)(
    'goes on after %s: plays no attempt again that has ended, and leaves none out',
    async (signal) => {
      const { file, numBegun } = slowEnvironment();
      const data = ['--data-dir', directories.make()];
      const playing = startRetrace([
        ...['play', '--environment', file, '--policy', 'random', '--policy', 'careful'],
        ...['--tasks', String(NUM_TASKS), '--attempts', String(NUM_ATTEMPTS), '--concurrency', '4', ...data],
      ]);
      // In the middle of the second policy.
      while (numBegun() < 1.5 * NUM_TASKS * NUM_ATTEMPTS) await sleep(20);
      if (signal === 'SIGKILL') await playing.killTree();
      else await playing.stop(signal);
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
