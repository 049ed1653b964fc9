import { mkdtemp, rm } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isAlive, kill, Session } from '../support/cli.mjs';

const NUM_SERVERS = 3;
const PROGRAM = fileURLToPath(new URL('../support/sampling-servers-program.mjs', import.meta.url));

let directory: string;
let started: number[] = [];
let collector: Session | null = null;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-killed-'));
});
afterEach(async () => {
  await collector?.killTree();
  collector = null;
  started.forEach(kill);
  started = [];
  await rm(directory, { recursive: true, force: true });
});

/** Process ids of everything that has the directory among its arguments, but for one process. */
function othersWithDirectory(except: number): number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,args='], { encoding: 'utf8' });
  const pids = table.split('\n').filter((line) => line.includes(directory));
  return pids.map((line) => Number.parseInt(line, 10)).filter((pid) => pid !== except);
}

it.each(['as its servers serve', 'while it starts them'])(
  'a collector that is killed %s leaves no sampling server behind',
  async (when) => {
    const session = new Session(process.execPath, [PROGRAM, directory, `${NUM_SERVERS}`]);
    collector = session;
    const others = () => othersWithDirectory(session.pid);
    if (when === 'as its servers serve') {
      await session.waitFor(/all servers have version 0/);
      // Each server has a process beside it that ends it.
      await expect.poll(() => others().length, { timeout: 60_000 }).toBe(2 * NUM_SERVERS);
    } else await expect.poll(() => others().length, { interval: 5, timeout: 60_000 }).toBeGreaterThan(0);
    started = others();
    await session.killTree();
    await expect.poll(() => started.filter(isAlive), { timeout: 60_000 }).toEqual([]);
    await expect.poll(others, { timeout: 60_000 }).toEqual([]);
  },
);
