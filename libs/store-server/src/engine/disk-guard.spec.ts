import { mkdtemp, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DiskGuard } from './disk-guard.js';
import { Engine, type StatementContext } from './engine.js';
import { StoreServerError } from '../store-server-error.js';

const context: StatementContext = {
  database: 'default',
  settings: new Map(),
  parameters: new Map(),
  access: 'full',
  readonlyLevel: 0,
};

/** How often the guard looks by itself. */
const CHECK_INTERVAL_MS = 5_000;

describe('DiskGuard', () => {
  let directory: string;
  let engine: Engine;
  let numFailedWrites: number;
  let failures: StoreServerError[];
  let guard: DiskGuard;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'retrace-guard-'));
    engine = await Engine.open(directory);
  });
  afterAll(async () => {
    await engine.close();
    await rm(directory, { recursive: true, force: true });
  });

  const run = (sql: string) => engine.run(sql, context).result;
  const insert = () => run('INSERT INTO rows SELECT number, toString(number) FROM numbers(1000)');

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    numFailedWrites = 0;
    failures = [];
    // The engine itself, but for its count of failed writes: a disk that fails is for test/faults.
    const counting = new Proxy(engine, {
      get: (target, name) =>
        name !== 'query'
          ? Reflect.get(target, name, target)
          : (sql: string) =>
              sql.includes('system.events')
                ? Promise.resolve([[String(numFailedWrites)]])
                : target.query(sql),
    });
    guard = new DiskGuard(counting, (error) => failures.push(error));
    await run('CREATE OR REPLACE TABLE rows (n UInt64, text String) ENGINE = MergeTree ORDER BY n');
    await insert();
  });
  afterEach(() => {
    guard.stop();
    vi.useRealTimers();
  });

  /** Cuts the data file of the newest part short, as the engine leaves it when the disk is full. */
  async function cutPart(): Promise<string> {
    const [[name, path]] = await engine.query(
      "SELECT name, path FROM system.parts WHERE table = 'rows' AND active ORDER BY name DESC LIMIT 1",
    );
    await truncate(join(path, 'data.bin'), 40);
    return `default.rows/${name}`;
  }

  it('lets statements succeed while no write has failed, and after failed ones that hit no part', async () => {
    await guard.assertWritten();
    numFailedWrites = 3;
    await guard.assertWritten();
    await insert();
    await guard.assertWritten();
    guard.assertServing();
    expect(failures).toEqual([]);
  });

  it('fails a statement whose part is truncated, reports it once, and fails all later ones', async () => {
    await guard.assertWritten();
    await insert();
    const part = await cutPart();
    numFailedWrites = 1;
    const refused = { exceptionName: 'CANNOT_WRITE_TO_FILE_DESCRIPTOR', httpStatus: 500 };
    // Statements that ran at the same time all learn of it.
    const outcomes = await Promise.allSettled([guard.assertWritten(), guard.assertWritten()]);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: refused });
    await expect(guard.assertWritten()).rejects.toThrow(part);
    expect(() => {
      guard.assertServing();
    }).toThrow(part);
    expect(failures).toHaveLength(1);
    expect(failures[0]).toMatchObject({ code: 'STORE_DISK_FAILED', retriable: true });
    expect(failures[0].message).toContain(part);
  });

  it('finds a truncated part of a merge without a statement', async () => {
    await insert();
    await run('OPTIMIZE TABLE rows FINAL');
    const part = await cutPart();
    await vi.advanceTimersByTimeAsync(CHECK_INTERVAL_MS);
    expect(failures).toEqual([]);
    numFailedWrites = 1;
    vi.advanceTimersByTime(CHECK_INTERVAL_MS);
    await vi.waitUntil(() => failures.length > 0, { timeout: 120_000 });
    expect(failures[0].message).toContain(part);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('stops checking once it is stopped', async () => {
    await cutPart();
    numFailedWrites = 1;
    guard.stop();
    vi.advanceTimersByTime(2 * CHECK_INTERVAL_MS);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(failures).toEqual([]);
  });
});
