import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openBackend } from '@retrace/compute';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeByteModel } from '../support/byte-model.mjs';
import { kill, root } from '../support/cli.mjs';
import { ServedTraining } from '../support/served-training.js';

const NUM_UPDATES = 4;
const SERVE = [
  ...[process.execPath, join(root, 'apps', 'cli', 'bin', 'retrace.mjs'), 'serve', '--port', '{port}'],
  ...['--model', '{model}', '--name', '{name}', '--logprobs-mode', 'processed_logprobs'],
];

describe('a run whose turns retrace serve samples', () => {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-trained-through-serve-'));
  const training = new ServedTraining(directory);

  beforeAll(async () => {
    await openBackend({});
    await writeByteModel(directory);
  });
  afterAll(async () => {
    await training.removeAll();
    rmSync(directory, { recursive: true });
  });

  it('starts a server for each version, again where one is killed, and stores logprobs that the version of each token gives again', async () => {
    const run = {
      adapters: false,
      maxStaleness: 0,
      concurrentEpisodes: 16,
      seed: 1,
      numUpdates: NUM_UPDATES,
    };
    const trained = training.train({ ...run, endpoint: { kind: 'vllm', command: SERVE } });
    await killServer();
    const data = await trained;
    const { largest, counts, asNeighbour } = await training.checkTokens(data);
    expect([...counts.keys()]).toEqual([0, 1, 2, 3]);
    expect(largest).toBeLessThan(1e-4);
    expect(asNeighbour).toBeGreaterThan(1e-3);
    const [{ untrainable }] = await training.sql<{ untrainable: string }>(
      data,
      "SELECT countIf(untrainable != '') AS untrainable FROM steps",
    );
    expect(Number(untrainable)).toBe(0);
    const [{ failed }] = await training.sql<{ failed: string }>(
      data,
      "SELECT countIf(end_reason != 'terminated') AS failed FROM episodes",
    );
    expect(Number(failed)).toBe(0);
  }, 300_000);
});

/** Kills the first server of this process's run that is seen to serve. */
async function killServer(): Promise<void> {
  const deadlineMs = performance.now() + 240_000;
  while (performance.now() < deadlineMs) {
    for (const { pid, port } of servers()) {
      if (!(await isServing(port))) continue;
      kill(pid);
      return;
    }
    await sleep(50);
  }
  throw new Error('no server was seen');
}

/** Servers that began below this process, without their watchdogs. */
function servers(): { readonly pid: number; readonly port: number }[] {
  const table = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' });
  const processes = table.split('\n').flatMap((line) => {
    const [, pid, parent, args] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), args }];
  });
  const parents = new Map(processes.map(({ pid, parent }) => [pid, parent]));
  const isOurs = (pid: number | undefined): boolean =>
    pid === process.pid || (pid !== undefined && pid > 1 && isOurs(parents.get(pid)));
  const command = SERVE.slice(0, 3).join(' ');
  return processes.flatMap(({ pid, args }) => {
    const port = /--port (\d+)/.exec(args)?.[1];
    return args.startsWith(command) && port !== undefined && isOurs(pid) ? [{ pid, port: Number(port) }] : [];
  });
}

async function isServing(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/health`).then(
    ({ ok }) => ok,
    () => false,
  );
}
