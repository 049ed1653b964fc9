import { createHash } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { join } from 'node:path';
import { temporaryDirectory } from '@retrace/compute/testing';
import { CheckpointFiles, type WrittenFile } from '@retrace/policy';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EngineConnection } from './engine-connection.js';
import { saveState } from './saved-files.js';

interface SaveCall {
  readonly directory: string;
  readonly what: string;
  readonly metadata: object;
}

/** A file of safetensors without a tensor. */
function contentOf(metadata: object): Buffer {
  const header = Buffer.from(JSON.stringify({ __metadata__: metadata }));
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([size, header]);
}

describe('what a worker saves', () => {
  let server: Server;
  let connection: EngineConnection;
  let calls: string[];
  let onSync: (response: ServerResponse) => void;

  const answer = (response: ServerResponse, status: number, body: object): void => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  };
  const save = async ({ directory, what, metadata }: SaveCall) => {
    const content = contentOf({ ...metadata, what });
    await writeFile(join(directory, `${what}-1.safetensors`), content);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const file = { file: `${what}-1.safetensors`, sha256, sizeBytes: content.length };
    return { files: [file], texts: metadata };
  };

  beforeEach(async () => {
    calls = [];
    onSync = (response) => {
      answer(response, 200, {});
    };
    server = createServer((request, response) => {
      void json(request).then(async (body) => {
        const { what } = body as SaveCall;
        calls.push(request.url === '/v1/sync' ? 'sync' : what);
        if (request.url === '/v1/sync') onSync(response);
        else answer(response, 200, await save(body as SaveCall));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    connection = new EngineConnection({ url: `http://127.0.0.1:${port}`, token: '' });
  });
  afterEach(() => {
    connection.close();
    server.close();
    server.closeAllConnections();
  });

  it('can be read from the weights on, and has its names once all of it is durable', async () => {
    const directory = await temporaryDirectory();
    const files = new CheckpointFiles(directory);
    let readable: WrittenFile | undefined;
    let namesAtSync: Promise<string[]> | undefined;
    onSync = (response) => {
      namesAtSync = readdir(directory);
      void namesAtSync.then(() => {
        answer(response, 200, {});
      });
    };
    const state = await saveState(connection, {
      metadata: { config: '{}' },
      sharded: false,
      into: files,
      onWritten: (weights) => {
        calls.push('offered');
        readable = weights;
      },
    });
    expect(calls).toEqual(['weights', 'offered', 'optimizer', 'sync']);
    expect(await namesAtSync).toEqual([expect.stringMatching(/\.partial$/)]);
    if (readable === undefined) throw new Error('the weights were not offered');
    const opened = await files.openWritten(readable);
    expect(opened.header.metadata).toEqual({ config: '{}', what: 'weights' });
    await opened.close();
    await files.verify(state.weights);
    await files.verify(state.optimizer);
    expect(await readdir(directory)).toHaveLength(2);
  });

  it('is offered in shards once they have their index, and the moments have not', async () => {
    const files = new CheckpointFiles(await temporaryDirectory());
    let opened: Promise<unknown> | undefined;
    const state = await saveState(connection, {
      metadata: { config: '{}' },
      sharded: true,
      into: files,
      onWritten: (weights) => {
        calls.push('offered');
        expect(weights.name).toBeNull();
        opened = files.openWritten(weights).then(async (file) => {
          await file.close();
          return file.header.metadata;
        });
      },
    });
    expect(calls).toEqual(['weights', 'optimizer', 'sync', 'offered']);
    expect(await opened).toMatchObject({ config: '{}' });
    expect(await files.filesOf(state.weights)).toHaveLength(2);
    await files.verify(state.optimizer);
  });

  it('has no name where the disk refuses it', async () => {
    const directory = await temporaryDirectory();
    onSync = (response) => {
      answer(response, 500, { error: { code: 'INTERNAL', message: 'no space' } });
    };
    const saving = saveState(connection, {
      ...{ metadata: {}, sharded: false, into: new CheckpointFiles(directory) },
    });
    await expect(saving).rejects.toMatchObject({ code: 'ENGINE_LOST' });
    expect(await readdir(directory)).toEqual([]);
  });
});
