import { execFileSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { readHostileStatements } from '../support/hostile-statements.mjs';

const SECRET = 'content of a file that nobody may read';
/** The engine's limit for each statement, which a request may lower. */
const LIMIT_SECONDS = 1;
/** Its process is killed 2 s after the limit; the rest is for a busy machine that starts the next one. */
const OVER_AFTER_MS = 30_000;
/** RLIMIT_DATA, and what is mapped from files. */
const MAX_PROCESS_BYTES = 5 * 1024 ** 3;
/** Refused, and not ended by a limit. */
const LIMIT_CODES = ['159', '236', '241', '307', '396'];

describe('the list of hostile statements', () => {
  let store: StoreFixture;
  let secretPath = '';

  beforeAll(async () => {
    store = await openStoreFixture();
    secretPath = join(store.directory, 'secret');
    await writeFile(secretPath, SECRET);
    await store.client.command(
      `INSERT INTO events (run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset, kind)
       SELECT 'run', toString(number % 20), number, 'log', 'trajectories', 0, number, 'StepRecorded' FROM numbers(20000)
       UNION ALL SELECT 'run', '', 0, 'log', 'control', 0, 0, 'RunStarted'`,
    );
  });

  afterAll(async () => {
    await store.close();
  });

  async function ask(
    sql: string,
    limit = `max_execution_time=${LIMIT_SECONDS}`,
  ): Promise<{ status: number; code: string; text: string; ms: number }> {
    const startMs = performance.now();
    const response = await fetch(`${store.url}/?${limit}`, {
      method: 'POST',
      headers: { 'X-ClickHouse-User': 'reader', 'X-ClickHouse-Key': 'fixture' },
      body: sql,
    });
    // A result that fails half-way ends with a broken connection.
    const text = await response.text().catch(() => '');
    const code = response.headers.get('X-ClickHouse-Exception-Code') ?? '';
    return { status: response.status, code, text: text.slice(0, 100_000), ms: performance.now() - startMs };
  }

  /** Tables, their rows, and the files beside the store: no statement may change them. */
  async function state(): Promise<unknown> {
    return [
      await store.client.queryRows(
        'SELECT name, create_table_query FROM system.tables WHERE database = currentDatabase() ORDER BY name',
      ),
      await store.client.queryRows('SELECT count() AS n, sum(cityHash64(*)) AS h FROM events'),
      await readFile(secretPath, 'utf8'),
      (await readdir(store.directory)).sort(),
    ];
  }

  /** The most memory that a process of user SQL has had, while it lives. */
  function peakBytes(): Promise<number[]> {
    const listed = execFileSync('sh', ['-c', `pgrep -P ${process.pid} -f user-sql-main || true`], {
      encoding: 'utf8',
    });
    return Promise.all(
      listed
        .split('\n')
        .filter(Boolean)
        .map(async (pid) => {
          const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
          return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
        }),
    );
  }

  it('has at least 300 different statements', () => {
    const statements = readHostileStatements(secretPath).map(({ sql }) => sql);
    expect(new Set(statements).size).toBe(statements.length);
    expect(statements.length).toBeGreaterThanOrEqual(300);
  });

  it(
    'reads nothing outside, changes nothing, and is over soon after its limits',
    { timeout: 1_800_000 },
    async () => {
      const before = await state();
      const ownBytes = process.memoryUsage().rss;
      const wrong: string[] = [];
      let largest = 0;
      for (const { expected, sql } of readHostileStatements(secretPath)) {
        const { status, code, text, ms } = await ask(sql);
        largest = Math.max(largest, ...(await peakBytes()));
        const isRefused = status >= 400 && !LIMIT_CODES.includes(code);
        const problems = [
          ...(text.includes(SECRET) ? ['the secret is in the answer'] : []),
          ...(expected === 'refused' && !isRefused
            ? [`not refused: ${status} ${code} ${text.slice(0, 80)}`]
            : []),
          ...(ms > OVER_AFTER_MS ? [`${Math.round(ms)} ms`] : []),
        ];
        if (problems.length > 0) wrong.push(`${sql.slice(0, 120)}: ${problems.join(', ')}`);
      }
      expect(wrong).toEqual([]);
      expect(await state()).toEqual(before);
      expect(largest).toBeLessThan(MAX_PROCESS_BYTES);
      expect(process.memoryUsage().rss - ownBytes).toBeLessThan(1024 ** 3);
      expect((await ask('SELECT count() FROM steps', '')).text).toBe('20000\n');
    },
  );
});
