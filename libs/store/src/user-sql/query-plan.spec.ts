import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoreClient } from '../client/store-client.js';
import { explainQuery } from './query-plan.js';

/** Of two runs, with the start of each. */
const NUM_ROWS = 20_002;
/** Rows of a granule of the table `events`, at most. */
const GRANULE_ROWS = 8_192;

describe('explainQuery', () => {
  let store: StoreFixture;
  let reader: StoreClient;

  beforeAll(async () => {
    store = await openStoreFixture();
    reader = store.openReader();
    for (const run of ['a', 'b'])
      await store.client.command(
        `INSERT INTO events (run_id, episode_id, seq, log_id, log_stream, log_partition, log_offset, kind)
         SELECT '${run}', leftPad(toString(intDiv(number, 100)), 8, '0'), number % 100, 'log', 'trajectories', 0, number, 'StepRecorded'
         FROM numbers(10000)
         UNION ALL SELECT '${run}', '', 0, 'log', 'control', 0, ${run === 'a' ? 0 : 1}, 'RunStarted'`,
      );
  });

  afterAll(async () => {
    await reader?.close();
    await store?.close();
  });

  it('tells which part of the table behind a view is read, by which key', async () => {
    const { names, tables, steps } = await explainQuery(
      reader,
      "SELECT action, count() FROM steps WHERE run_id = 'a' AND episode_id = '00000003' GROUP BY action",
    );
    expect(names).toEqual(['steps']);
    expect(tables).toMatchObject([{ table: 'events', totalRows: NUM_ROWS }]);
    const [{ numRows, maxBytes }] = tables;
    expect(numRows).toBeGreaterThanOrEqual(100);
    expect(numRows).toBeLessThanOrEqual(2 * GRANULE_ROWS);
    expect(maxBytes).toBeGreaterThan(0);
    expect(steps[0]).toMatchObject({ depth: 0, name: 'Aggregating', detail: 'action → count()' });
    const read = steps.find(({ indexes }) => indexes.length > 0);
    expect(read).toMatchObject({ name: 'ReadFromMergeTree', detail: 'events' });
    const key = read?.indexes.find(({ type }) => type === 'PrimaryKey');
    expect(key?.name).toBe('run_id, episode_id');
    expect(key?.condition).toContain("'00000003'");
    expect(key?.numGranules).toBeLessThan(key?.totalGranules ?? 0);
  });

  it('shows that a query without a filter by run reads all rows', async () => {
    const { tables, steps } = await explainQuery(reader, 'SELECT max(length(action)) FROM events');
    expect(tables).toMatchObject([{ table: 'events', numRows: NUM_ROWS, totalRows: NUM_ROWS }]);
    expect(steps.at(-1)?.indexes.at(-1)).toMatchObject({ type: 'PrimaryKey', condition: 'true' });
  });

  it('counts a table twice that a join reads twice, and puts both sides below the join', async () => {
    const { tables, steps } = await explainQuery(
      reader,
      'SELECT count() FROM (SELECT seq FROM events) AS x INNER JOIN (SELECT seq FROM events) AS y ON x.seq = y.seq',
    );
    expect(tables[0].numRows).toBe(2 * NUM_ROWS);
    const join = steps.find(({ name }) => name === 'Join');
    const reads = steps.filter(({ name }) => name === 'ReadFromMergeTree');
    expect(reads).toHaveLength(2);
    for (const { depth } of reads) expect(depth).toBeGreaterThan(join?.depth ?? Infinity);
    expect(join?.detail).toContain('seq');
  });

  it('tells of each kind of step by what it does', async () => {
    const { steps } = await explainQuery(
      reader,
      `SELECT reward_name, row_number() OVER (PARTITION BY reward_name ORDER BY seq) AS n
       FROM (SELECT * FROM events WHERE kind = 'StepRecorded' ORDER BY seq LIMIT 1 BY episode_id)
       ARRAY JOIN reward_names AS reward_name ORDER BY n LIMIT 5`,
    );
    const details = new Map(steps.map(({ name, detail }) => [name, detail]));
    expect(details.get('Limit')).toBe('5');
    expect(details.get('LimitBy')).toBe('1 for each episode_id');
    expect(details.get('ArrayJoin')).not.toContain('undefined');
    expect([...details.values()].join(' ')).not.toMatch(/__table|_String\b/);
  });

  it('names keys without aggregates, aggregates without keys, and the direction of an order', async () => {
    const { steps: grouped } = await explainQuery(reader, 'SELECT kind FROM events GROUP BY kind');
    expect(grouped).toContainEqual({ depth: 0, name: 'Aggregating', detail: 'kind', indexes: [] });
    const { steps: summed } = await explainQuery(reader, 'SELECT max(seq) FROM events');
    expect(summed[0]).toMatchObject({ name: 'Aggregating', detail: 'max(seq)' });
    const { steps: sorted } = await explainQuery(reader, 'SELECT seq FROM events ORDER BY kind DESC, seq');
    expect(sorted[0]).toMatchObject({ name: 'Sorting', detail: 'kind DESC, seq' });
  });

  it('takes an expression of WITH for no view of its name', async () => {
    const { names } = await explainQuery(
      reader,
      'WITH steps AS (SELECT seq FROM events) SELECT count(), any(name) FROM steps, metrics',
    );
    expect([...names].sort()).toEqual(['events', 'metrics']);
  });

  it('has nothing to read where the engine keeps the answer, and no steps are run', async () => {
    expect((await explainQuery(reader, 'SELECT count() FROM events')).tables).toEqual([]);
    const throwing = await explainQuery(reader, 'SELECT throwIf(seq < 1000) FROM events');
    expect(throwing.tables[0].numRows).toBe(NUM_ROWS);
  });
});
