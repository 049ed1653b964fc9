import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Engine, type StatementContext } from '../engine/engine.js';
import { UserSqlEngine } from './user-sql-engine.js';

/** A SELECT that the engine stops only between blocks: hours of comparisons for its one row. */
const UNSTOPPABLE = 'SELECT hasAny(range(3000000), arrayMap(x -> x + 100000000, range(3000000)))';

const contextOf = (settings: Record<string, number> = {}): StatementContext => ({
  database: 'default',
  settings: new Map(
    Object.entries({ max_execution_time: 30, max_threads: 1, ...settings }).map(([name, value]) => [
      name,
      `${value}`,
    ]),
  ),
  parameters: new Map(),
  access: 'full',
  readonlyLevel: 0,
});

/** Process ids of the processes of user SQL that this process has started. */
async function userSqlPids(): Promise<number[]> {
  const listed = promisify(execFile)('pgrep', ['-P', `${process.pid}`, '-f', 'user-sql-main']);
  const { stdout } = await listed.catch(() => ({ stdout: '' }));
  return stdout.split('\n').filter(Boolean).map(Number);
}

describe('UserSqlEngine', () => {
  let directory: string;
  let store: Engine;
  let users: UserSqlEngine;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'retrace-user-engine-'));
    store = await Engine.open(directory);
    users = new UserSqlEngine(store, directory);
    await inStore(`CREATE TABLE steps (run String, n UInt64, INDEX m n TYPE minmax GRANULARITY 1)
                   ENGINE = ReplacingMergeTree ORDER BY (run, n) SETTINGS
                     old_parts_lifetime = 1, cleanup_delay_period = 1, max_cleanup_delay_period = 1,
                     cleanup_delay_period_random_add = 0, merge_tree_clear_old_parts_interval_seconds = 1`);
    await inStore('CREATE VIEW sums AS SELECT run, sum(n) AS total FROM steps GROUP BY run');
    await inStore("INSERT INTO steps SELECT 'a', number FROM numbers(1000)");
  });

  afterEach(async () => {
    await users.close();
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });

  const inStore = (sql: string) => store.run(sql, contextOf()).result;
  const ask = async (sql: string, settings?: Record<string, number>) =>
    Buffer.from(await users.run(sql, contextOf(settings)).result.then(({ bytes }) => bytes))
      .toString()
      .trim();

  it('shows a statement what was inserted, merged, deleted and truncated before it', async () => {
    const count = () => ask('SELECT count() FROM steps');
    expect(await count()).toBe('1000');
    expect(await ask('SELECT * FROM sums')).toBe('a\t499500');
    for (let i = 1; i <= 5; i++) {
      await inStore(`INSERT INTO steps VALUES ('b', ${i})`);
      expect(await count()).toBe(`${1000 + i}`);
    }
    await inStore('OPTIMIZE TABLE steps FINAL');
    expect(await count()).toBe('1005');
    await inStore("DELETE FROM steps WHERE run = 'a'");
    expect(await count()).toBe('5');
    await inStore('TRUNCATE TABLE steps');
    expect(await count()).toBe('0');
    await inStore("INSERT INTO steps VALUES ('c', 1)");
    expect(await ask('SELECT * FROM sums')).toBe('c\t1');
  });

  it('reads on after the parts that it knew were merged and their files removed', async () => {
    for (let i = 0; i < 5; i++) await inStore(`INSERT INTO steps VALUES ('b', ${i})`);
    expect(await ask('SELECT count() FROM steps')).toBe('1005');
    await inStore('OPTIMIZE TABLE steps FINAL');
    while (Number((await store.query("SELECT count() FROM system.parts WHERE table = 'steps'"))[0][0]) > 1)
      await sleep(100);
    expect(await ask('SELECT count(), sum(n) FROM steps')).toBe('1005\t499510');
  });

  it('shows tables and views that were made, changed and dropped before a statement', async () => {
    expect(await ask('SELECT count() FROM sums')).toBe('1');
    await inStore('CREATE TABLE others (x UInt8) ENGINE = MergeTree ORDER BY x');
    await inStore('INSERT INTO others VALUES (7)');
    expect(await ask('SELECT x FROM others')).toBe('7');
    await inStore('CREATE OR REPLACE VIEW sums AS SELECT 42 AS total');
    expect(await ask('SELECT total FROM sums')).toBe('42');
    await inStore('ALTER TABLE others ADD COLUMN y UInt8 DEFAULT 5');
    expect(await ask('SELECT y FROM others')).toBe('5');
    await inStore('DROP TABLE others SYNC');
    await expect(ask('SELECT x FROM others')).rejects.toThrow('UNKNOWN_TABLE');
  });

  it.runIf(process.platform === 'linux')(
    'runs every thread of a ready process behind other processes',
    async () => {
      expect(await ask('SELECT count() FROM steps')).toBe('1000');
      const [pid] = await userSqlPids();
      const threads = (await readdir(`/proc/${pid}/task`)).map(Number);
      expect(threads.length).toBeGreaterThan(5);
      const behind = Math.min(getPriority() + 10, 19);
      expect(threads.filter((thread) => getPriority(thread) !== behind)).toEqual([]);
    },
  );

  it('can write nothing into the tables of the store, nor remove their files', async () => {
    await expect(ask("INSERT INTO steps VALUES ('b', 1)")).rejects.toThrow();
    await expect(ask("ALTER TABLE steps DELETE WHERE run = 'a'")).rejects.toThrow();
    await ask('OPTIMIZE TABLE steps FINAL').catch(() => undefined);
    await ask('TRUNCATE TABLE steps').catch(() => undefined);
    await ask('DROP TABLE steps SYNC').catch(() => undefined);
    expect(await store.query('SELECT count(), sum(n) FROM steps')).toEqual([['1000', '499500']]);
    expect((await store.query('CHECK TABLE steps')).map(([, isPassed]) => isPassed)).toEqual(['1']);
  });

  it('ends a statement that the engine does not stop at its limit, and answers the next one', async () => {
    await ask('SELECT 1');
    const [pid] = await userSqlPids();
    const startMs = performance.now();
    const bomb = expect(ask(UNSTOPPABLE, { max_execution_time: 1 })).rejects.toThrow('(TIMEOUT_EXCEEDED)');
    // Neither the store nor this process waits for it.
    expect(await store.query('SELECT count() FROM steps')).toEqual([['1000']]);
    await bomb;
    expect(performance.now() - startMs).toBeGreaterThan(2_900);
    expect(await ask('SELECT count() FROM steps')).toBe('1000');
    expect(await userSqlPids()).not.toContain(pid);
  });

  it('killed, fails what runs in it and nothing else', async () => {
    await ask('SELECT 1');
    const running = expect(ask(UNSTOPPABLE)).rejects.toThrow(/ended \(SIGKILL\).*\(ABORTED\)/s);
    const [pid] = await userSqlPids();
    await sleep(200);
    process.kill(pid, 'SIGKILL');
    await running;
    expect(await store.query('SELECT count() FROM steps')).toEqual([['1000']]);
    expect(await ask('SELECT count() FROM steps')).toBe('1000');
  });

  it('leaves a statement alone whose neighbor is ended with its process', { tags: 'release' }, async () => {
    const slow = ask('SELECT sum(sleepEachRow(0.5)) FROM numbers(10) SETTINGS max_block_size = 1');
    await expect(ask(UNSTOPPABLE, { max_execution_time: 1 })).rejects.toThrow('(TIMEOUT_EXCEEDED)');
    expect(await slow).toBe('0');
    expect(await userSqlPids()).toHaveLength(1);
  });

  it(
    'starts as many processes as statements run at once, and uses them again',
    { tags: 'release' },
    async () => {
      const slow = 'SELECT sleep(1)';
      expect(await Promise.all([ask(slow), ask(slow)])).toEqual(['0', '0']);
      const pids = await userSqlPids();
      expect(pids).toHaveLength(2);
      await ask(slow);
      expect(await userSqlPids()).toEqual(pids);
    },
  );

  it.runIf(process.platform === 'linux')(
    'has a limit for memory that the engine does not count',
    async () => {
      await ask('SELECT 1');
      const [pid] = await userSqlPids();
      expect(await readFile(`/proc/${pid}/limits`, 'utf8')).toMatch(/Max data size +2684354560 +2684354560/);
      // Under a limit of 1 GiB the formatted text alone takes 5 GB.
      await expect(
        ask("SELECT length(printf('%5000000000d', 1))", { max_memory_usage: 2 ** 30 }),
      ).rejects.toThrow();
      expect(await ask('SELECT count() FROM steps')).toBe('1000');
    },
  );

  it('ends when idle, and starts again', async () => {
    await users.close();
    users = new UserSqlEngine(store, directory, 100);
    await ask('SELECT 1');
    while ((await userSqlPids()).length > 0) await sleep(50);
    expect(await ask('SELECT count() FROM steps')).toBe('1000');
  });

  it('cancels a statement when asked to', async () => {
    await ask('SELECT 1');
    const running = users.run('SELECT count() FROM numbers(100000000000)', contextOf());
    const failed = expect(running.result).rejects.toThrow('(QUERY_WAS_CANCELLED)');
    await sleep(300);
    await running.cancel();
    await failed;
    expect(await userSqlPids()).toHaveLength(1);
  });
});
