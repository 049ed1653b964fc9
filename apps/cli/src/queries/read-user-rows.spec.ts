import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { readUserRows } from './read-user-rows.js';

const ROWS = [1, 2, 3].map((n) => ({ run_id: 'run', episode_id: `episode-${n}` }));
const LINES = ROWS.map((row) => `${JSON.stringify(row)}\n`);

describe('readUserRows', () => {
  let server: Server;
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  async function read(answers: readonly RequestListener[]) {
    let numAsked = 0;
    server = createServer((request, response) => {
      answers[Math.min(numAsked++, answers.length - 1)](request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const storeUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const credentials = () => ({ readonlyUser: 'reader', readonlyPassword: 'x' });
    const found = await readUserRows({ directory: { credentials } as never, storeUrl }, 'SELECT 1');
    return { found, numAsked };
  }

  it('reads a result again from the start where the store stops before it or in the middle of it', async () => {
    const { found, numAsked } = await read([
      ({ socket }) => socket.destroy(),
      (_, response) => {
        response.write(LINES[0]);
        setTimeout(() => response.destroy(), 50);
      },
      (_, response) => response.end(LINES.join('')),
    ]);
    expect(found).toEqual(ROWS);
    expect(numAsked).toBe(3);
  });

  it('does not ask again what the store refuses', async () => {
    let numRefused = 0;
    const refuse: RequestListener = (_, response) => {
      numRefused += 1;
      response.writeHead(400).end('Code: 62. DB::Exception: Syntax error');
    };
    await expect(read([refuse])).rejects.toMatchObject({
      code: 'QUERY_FAILED',
      message: 'query: Syntax error',
    });
    expect(numRefused).toBe(1);
  });
});
