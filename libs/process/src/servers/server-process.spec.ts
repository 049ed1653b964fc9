import { execFile, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { ServerProcess } from './server-process.js';
import { WATCHDOG } from './watchdog.js';

/** A server whose only task is to be alive, with a child of its own, as shells and launchers have. */
const SERVER = `
const { spawn } = require('node:child_process');
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', 'retrace-test-grandchild']);
require('node:http').createServer((_, response) => response.end(JSON.stringify([process.pid, child.pid])))
  .listen(Number(process.argv[1]), '127.0.0.1');`;

const processes: ServerProcess[] = [];

function serverProcess(code = SERVER, startTimeoutMs = 20_000): ServerProcess {
  const check = async (url: string, signal: AbortSignal) => {
    await fetch(url, { signal });
  };
  const command = [process.execPath, '-e', code, '{port}'];
  const made = new ServerProcess({ command, directory: undefined, port: null, startTimeoutMs, check });
  processes.push(made);
  return made;
}

const pidsOf = async (url: string) => (await (await fetch(url)).json()) as number[];

/** Whether any of the processes runs; one that nobody has waited for does not. */
async function anyRuns(pids: readonly number[]): Promise<boolean> {
  const states = await promisify(execFile)('ps', ['-o', 'stat=', '-p', pids.join(',')]).then(
    ({ stdout }) => stdout.split('\n'),
    () => [],
  );
  return states.some((state) => state.trim() !== '' && !state.startsWith('Z'));
}

async function untilNoneRuns(pids: readonly number[]): Promise<void> {
  while (await anyRuns(pids)) await sleep(50);
}

describe('ServerProcess', () => {
  afterEach(async () => {
    await Promise.all(processes.splice(0).map((made) => made.stop()));
  });

  it('ends with all its processes when it is stopped', async () => {
    const server = serverProcess();
    const pids = await pidsOf(await server.start());
    expect(await anyRuns(pids)).toBe(true);
    await server.stop();
    await untilNoneRuns(pids);
  });

  it('does not outlive its parent that is killed with SIGKILL', async () => {
    const parentCode = `
      const { spawn } = require('node:child_process');
      spawn(process.execPath, ['-e', ${JSON.stringify(WATCHDOG)}, '--', '1000', process.execPath, '-e', ${JSON.stringify(SERVER)}, process.argv[1]],
        { detached: true, stdio: ['pipe', 'inherit', 'inherit'] });
      setInterval(() => {}, 1000);`;
    const port = 20_000 + (process.pid % 20_000);
    const parent = spawn(process.execPath, ['-e', parentCode, `${port}`], { stdio: 'ignore' });
    let pids: number[] = [];
    while (pids.length === 0) {
      pids = await pidsOf(`http://127.0.0.1:${port}`).catch(() => []);
      await sleep(20);
    }
    parent.kill('SIGKILL');
    await untilNoneRuns(pids);
  });

  it('tells the server the process that it belongs to, which is its parent', async () => {
    const code = `require('node:http').createServer((_, response) =>
      response.end(JSON.stringify([Number(process.env.RETRACE_SERVER_OWNER), process.ppid]))).listen(Number(process.argv[1]), '127.0.0.1');`;
    const [owner, parent] = await pidsOf(await serverProcess(code).start());
    expect(owner).toBe(parent);
  });

  it('is refused with its last lines when it ends at once, and when it never answers', async () => {
    const ending = serverProcess(`console.error('no such module: craft'); process.exit(3)`);
    await expect(ending.start()).rejects.toMatchObject({
      code: 'SERVER_FAILED',
      message: expect.stringMatching(/ended with exit code 3; it said: no such module: craft$/) as string,
    });
    await expect(serverProcess('setInterval(() => {}, 1000)', 300).start()).rejects.toMatchObject({
      code: 'SERVER_FAILED',
      message: expect.stringContaining('did not answer within 300 ms') as string,
    });
    const missing = new ServerProcess({
      ...{ command: ['/no/such/program', '{port}'], directory: undefined, port: null, startTimeoutMs: 5_000 },
      check: () => Promise.reject(new Error('closed')),
    });
    await expect(missing.start()).rejects.toThrow('ENOENT');
  });
});
