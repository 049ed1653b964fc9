import { findFreePort } from '@retrace/process/free-port';
import { afterEach, describe, expect, it } from 'vitest';
import { StartedServer } from './started-server.js';

/** A server whose only model has the name that it was started with, and which says its directory. */
const PROGRAM = `
const [port, model, name] = process.argv.slice(1);
require('node:http').createServer((request, response) => {
  response.end(JSON.stringify(request.url === '/v1/models' ? { data: [{ id: name }] } : { model, pid: process.pid }));
}).listen(Number(port), '127.0.0.1');
`;

let server: StartedServer | undefined;
const warnings: string[] = [];
afterEach(() => server?.stop());

async function open(program: string, startTimeoutMs = 20_000) {
  const port = await findFreePort();
  server = new StartedServer({
    command: [process.execPath, '-e', program, '--', '{port}', '{model}', '{name}'],
    ...{ port, startTimeoutMs, engine: { timeoutMs: 5_000, maxRetries: 0 } },
    onWarning: (message) => warnings.push(message),
  });
  const said = async () =>
    (await (await fetch(`http://127.0.0.1:${port}/`)).json()) as { model: string; pid: number };
  return { server, said };
}

describe('StartedServer', () => {
  it('serves one directory after the other at one address, by a process each', async () => {
    const { server: started, said } = await open(PROGRAM);
    await started.deliver({ directory: '/weights/1', name: 'retrace-run-1' });
    const first = await said();
    await started.deliver({ directory: '/weights/2', name: 'retrace-run-2' });
    const second = await said();
    expect([first.model, second.model]).toEqual(['/weights/1', '/weights/2']);
    expect(() => process.kill(first.pid, 0)).toThrow('ESRCH');
    await started.close();
    expect(() => process.kill(second.pid, 0)).toThrow('ESRCH');
    await expect(started.deliver({ directory: '/weights/3', name: 'retrace-run-3' })).rejects.toThrow(
      'is not started for retrace-run-3: the run has closed it',
    );
  });

  it('starts a server again that ended by itself, with the same weights', async () => {
    const { server: started, said } = await open(PROGRAM);
    await started.deliver({ directory: '/weights/1', name: 'retrace-run-1' });
    const { pid } = await said();
    process.kill(pid, 'SIGKILL');
    const again = async () =>
      (await said().catch(() => ({ pid, model: '' }))) as { model: string; pid: number };
    await expect.poll(async () => (await again()).pid).not.toBe(pid);
    expect((await again()).model).toBe('/weights/1');
    expect(warnings).toEqual([expect.stringContaining('ended, and is started again') as string]);
  });

  it('does not take a server that serves other weights for its own', async () => {
    const { server: started } = await open(PROGRAM.replace('id: name', "id: 'other'"), 2_500);
    await expect(started.deliver({ directory: '/weights/1', name: 'retrace-run-1' })).rejects.toThrow(
      /did not answer within 2500 ms \(it serves other, not retrace-run-1\)/,
    );
  });

  it('says what a server said that ended', async () => {
    const { server: started } = await open("console.error('out of memory'); process.exit(3)");
    await expect(started.deliver({ directory: '/weights/1', name: 'retrace-run-1' })).rejects.toThrow(
      /ended with exit code 3; it said: out of memory/,
    );
  });
});
