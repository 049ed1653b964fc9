import { appendFile, chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startIngestServer } from '../sender/ingest-server.fixture.js';
import { Retrace } from '../retrace.js';
import type { RetraceError } from '../wire/retrace-error.js';
import { SpoolQueue } from './spool-queue.js';
import type { SpoolOptions } from './spool-options.js';

const ALL = { maxLines: 1_000, maxBytes: 1_000_000 };

let directory = '';
let errors: RetraceError[] = [];
const open: SpoolQueue[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-spool-'));
  errors = [];
});

afterEach(async () => {
  for (const queue of open.splice(0)) await queue.close();
  await rm(directory, { recursive: true });
});

function openSpool(options: Partial<SpoolOptions> = {}): SpoolQueue {
  const queue = new SpoolQueue({ directory, ...options }, (error) => errors.push(error));
  open.push(queue);
  return queue;
}

function appendAll(queue: SpoolQueue, lines: readonly string[]): void {
  for (const line of lines) expect(queue.append(line)).toBe(true);
}

async function drain(queue: SpoolQueue): Promise<string[]> {
  const lines: string[] = [];
  for (;;) {
    const some = await queue.peek({ maxLines: 3, maxBytes: 50 });
    if (some.length === 0) return lines;
    lines.push(...some);
    await queue.take(some.length);
  }
}

async function segmentNames(): Promise<string[]> {
  return (await readdir(directory)).filter((name) => name.endsWith('.ndjson'));
}

describe('SpoolQueue', () => {
  it('gives lines back in their order, over many files, which are removed when they were taken', async () => {
    const queue = openSpool({ segmentBytes: 64 });
    const lines = Array.from({ length: 40 }, (_, i) => `line ${i} ${'é🎉'.repeat(i % 5)}`);
    for (const line of lines) {
      appendAll(queue, [line]);
      await queue.peek(ALL);
    }
    expect((await segmentNames()).length).toBeGreaterThan(5);
    expect(queue.numLines).toBe(40);
    expect(queue.numBytes).toBe(lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0));
    expect(await drain(queue)).toEqual(lines);
    expect(queue).toMatchObject({ numLines: 0, numBytes: 0 });
    expect(await segmentNames()).toHaveLength(1);
    await queue.close();
    expect(await readdir(directory)).toEqual([]);
  });

  it('gives a line that is longer than maxBytes by itself', async () => {
    const queue = openSpool();
    appendAll(queue, ['x'.repeat(1_000), 'y']);
    expect(await queue.peek({ maxLines: 10, maxBytes: 10 })).toEqual(['x'.repeat(1_000)]);
  });

  it('keeps what was not taken for the next process', async () => {
    const first = openSpool();
    appendAll(first, ['a', 'b', 'c']);
    expect(await first.peek(ALL)).toEqual(['a', 'b', 'c']);
    await first.close();
    const second = openSpool();
    appendAll(second, ['d']);
    expect(await drain(second)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('takes over the files of a process that ended, without a last line that was not written wholly', async () => {
    await writeFile(join(directory, '0123456789ab-000001.ndjson'), 'c\nd\n{"torn":');
    await writeFile(join(directory, '0123456789ab-000000.ndjson'), 'a\nb\n');
    await writeFile(join(directory, '0123456789ac-000000.ndjson'), 'e\n');
    expect(await drain(openSpool())).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(errors).toEqual([]);
  });

  it('leaves the files of a process that lives, so that one sender at a time has a file', async () => {
    const first = openSpool();
    appendAll(first, ['a', 'b']);
    await first.peek(ALL);
    const second = openSpool();
    await second.adopt();
    expect(second.numLines).toBe(0);
    expect(await drain(first)).toEqual(['a', 'b']);
  });

  it('gives each left file to one of several processes that start at once', async () => {
    const names = Array.from({ length: 30 }, (_, i) => `0123456789ab-${`${i}`.padStart(6, '0')}.ndjson`);
    await Promise.all(names.map((name) => writeFile(join(directory, name), `${name}\n`)));
    const queues = Array.from({ length: 4 }, () => openSpool());
    const lines = (await Promise.all(queues.map(drain))).flat();
    expect(lines.sort()).toEqual(names);
    expect(errors).toEqual([]);
  });

  it('finds files that a process left while this one was running', async () => {
    const queue = openSpool();
    appendAll(queue, ['own 1', 'own 2']);
    expect(await queue.peek(ALL)).toHaveLength(2);
    await queue.take(1);
    await writeFile(join(directory, '0123456789ab-000000.ndjson'), 'left\n');
    await queue.adopt();
    appendAll(queue, ['own 3']);
    expect(await drain(queue)).toEqual(['own 2', 'left', 'own 3']);
  });

  it('takes no line beyond maxBytes', () => {
    const queue = openSpool({ maxBytes: 10 });
    expect(queue.append('12345')).toBe(true);
    expect(queue.append('12345')).toBe(false);
    expect(queue.append('123')).toBe(true);
  });

  it.skipIf(process.getuid?.() === 0)(
    'keeps lines in memory while the directory can not be written',
    async () => {
      await chmod(directory, 0o500);
      const queue = openSpool();
      appendAll(queue, ['a', 'b']);
      expect(await drain(queue)).toEqual(['a', 'b']);
      expect(errors[0]).toMatchObject({ code: 'SPOOL_FAILED' });
      await chmod(directory, 0o700);
    },
  );

  it('keeps lines in memory while the directory is none', async () => {
    await appendFile(join(directory, 'file'), '');
    const queue = new SpoolQueue({ directory: join(directory, 'file') }, (error) => errors.push(error));
    appendAll(queue, ['a', 'b']);
    expect(await drain(queue)).toEqual(['a', 'b']);
    expect(errors[0]).toMatchObject({ code: 'SPOOL_FAILED' });
    await queue.close();
  });
});

describe('a client with a spool', () => {
  it('keeps records in a readable file while the server is unavailable, and sends them with the next client', async () => {
    const server = await startIngestServer();
    await server.close();
    const away = { url: server.url, spool: { directory, fsync: true }, onError: () => undefined };
    const first = new Retrace(away);
    const run = await first.startRun({ name: 'offline' });
    const episode = run.episode();
    episode.step({ action: 'kept' });
    episode.end();
    expect(await first.close({ timeoutMs: 300 })).toBe(false);
    const [name] = await segmentNames();
    const spooled = (await readFile(join(directory, name), 'utf8')).trim().split('\n');
    expect(spooled.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { run: run.id, start: { name: 'offline' } },
      { run: run.id, record: { type: 'episode' } },
      { run: run.id, record: { type: 'step', action: 'kept' } },
      { run: run.id, record: { type: 'end' } },
    ]);

    const back = await startIngestServer(() => null, { port: server.port });
    const second = new Retrace(away);
    expect(await second.close()).toBe(true);
    expect(back.taken).toMatchObject([
      { name: 'offline' },
      { type: 'episode' },
      { type: 'step' },
      { type: 'end' },
    ]);
    expect(await readdir(directory)).toEqual([]);
    await back.close();
  });

  it('sends what earlier processes left without being asked', async () => {
    const server = await startIngestServer();
    const line = '{"run":"01936d00-0000-7000-8000-00000000b001","record":{"type":"reward","name":"late"}}\n';
    await writeFile(join(directory, '0123456789ab-000000.ndjson'), line);
    const retrace = new Retrace({ url: server.url, spool: directory, lingerMs: 10 });
    await expect.poll(() => server.taken).toMatchObject([{ name: 'late' }]);
    await retrace.close();
    await server.close();
  });
});
