import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RequestBody } from './request-body.js';

const MEBIBYTE = 1024 * 1024;
const MAX_BODY_BYTES = 3 * MEBIBYTE;

/** Whatever the body's size, and wherever its statement ends: the file holds the data, to the last byte. */
describe('a spooled body', () => {
  const spoolDirectory = mkdtempSync(join(tmpdir(), 'retrace-spool-'));
  const outcomes: Promise<unknown>[] = [];
  const server = createServer((request, response) => {
    const options = { maxQueryBytes: 100, maxBodyBytes: MAX_BODY_BYTES, spoolDirectory, hasBlocks: false };
    const body = new RequestBody(request, options);
    const headBytes = Number(request.headers['x-head']);
    const spooling = async (): Promise<string> => {
      const head = headBytes > 0 ? (await body.readHead()).bytes : Buffer.alloc(0);
      const spooled = headBytes > 0 ? await body.spool(head) : await body.spoolWhole();
      const content = readFileSync(spooled.path);
      await spooled.remove();
      return `${spooled.sizeBytes} ${createHash('sha256').update(content).digest('hex')}`;
    };
    const outcome = spooling();
    outcomes.push(outcome.catch((error: unknown) => error));
    outcome.then(
      (text) => response.end(text),
      (error: Error) => response.writeHead(400).end(error.message),
    );
  });

  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    rmSync(spoolDirectory, { recursive: true });
  });

  const portOf = (): number => (server.address() as AddressInfo).port;
  const send = async (body: Buffer, headBytes: number): Promise<string> => {
    const headers = { 'x-head': String(headBytes) };
    const response = await fetch(`http://127.0.0.1:${portOf()}/`, { method: 'POST', body, headers });
    return response.text();
  };

  it.each([0, 1, 100, 101, MEBIBYTE - 1, MEBIBYTE, MEBIBYTE + 1, 2 * MEBIBYTE + 7])(
    'of %i bytes is in its file as it was sent, and the file goes',
    async (sizeBytes) => {
      const body = randomBytes(sizeBytes);
      const expected = `${sizeBytes} ${createHash('sha256').update(body).digest('hex')}`;
      expect(await send(body, 0)).toBe(expected);
      expect(await send(body, 1)).toBe(expected);
      expect(readdirSync(spoolDirectory)).toEqual([]);
    },
  );

  it('that is too large is refused, and leaves no file', async () => {
    expect(await send(Buffer.alloc(MAX_BODY_BYTES + 1), 0)).toMatch(/larger than 3145728 bytes/);
    expect(readdirSync(spoolDirectory)).toEqual([]);
  });

  it.each([10, 2 * MEBIBYTE])(
    'that breaks off after %i bytes is refused, and leaves no file',
    async (sizeBytes) => {
      const socket = connect(portOf(), '127.0.0.1');
      const before = outcomes.length;
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\nx-head: 0\r\nContent-Length: ${sizeBytes + 1}\r\n\r\n`);
      await new Promise((resolve) => socket.write(Buffer.alloc(sizeBytes), resolve));
      await expect.poll(() => outcomes.length).toBe(before + 1);
      socket.destroy();
      expect(String(await outcomes[before])).toMatch(/closed before the whole request body/);
      expect(readdirSync(spoolDirectory)).toEqual([]);
    },
  );
});
