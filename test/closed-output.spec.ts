import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, runRetrace } from './support/cli.mjs';

/** Runs `retrace` with nobody to read what it prints. */
async function runUnread(...args: readonly string[]): Promise<{ code: number; stderr: string }> {
  const child = spawn(process.execPath, [join(root, 'apps/cli/bin/retrace.mjs'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const [code] = (await once(child, 'close')) as [number];
  return { code, stderr };
}

describe('retrace, when nobody reads its output', () => {
  it.each([['--help'], ['up', '--help'], ['recipes'], ['recipes', 'bandit-ppo'], ['backend', 'list']])(
    'ends without a word as SIGPIPE would: %s %s',
    async (...args) => {
      const words = args.filter((word) => typeof word === 'string');
      expect((await runRetrace(words)).code).toBe(0);
      expect(await runUnread(...words)).toEqual({ code: 141, stderr: '' });
    },
  );
});
