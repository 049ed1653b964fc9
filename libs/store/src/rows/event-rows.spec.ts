import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Session } from 'chdb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnyEvent, contentChecksum, type StepRecorded } from '@retrace/trajectory';
import { sampleEpisodeEvent, sampleEvents, sampleStep } from '@retrace/trajectory/testing';
import { ArrowColumns } from '../arrow/arrow-columns.js';
import { readSchemaFiles } from '../schema/schema-files.js';
import { EventRowReader } from './event-row-reader.js';
import { eventRow, type EventRow, EventRowsEncoder, readEventRow } from './event-rows.js';

const POSITION = { logId: sampleEvents()[0].logId, stream: 'trajectories', partition: 3 } as const;
const NO_USAGE = {
  inputTokens: null,
  cachedInputTokens: null,
  outputTokens: null,
  reasoningTokens: null,
  costUsd: null,
};
const SETTINGS = "SETTINGS output_format_arrow_compression_method = 'none'";

/** The engine itself, with the table of the migrations, without a server around it. */
describe('event rows written to and read from the engine', () => {
  let scratch: string;
  let session: Session;

  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'retrace-rows-'));
    session = new Session(join(scratch, 'data'));
    const { migrations } = await readSchemaFiles(join(import.meta.dirname, '../../migrations'));
    for (const { sql } of migrations.flatMap(({ statements }) => statements))
      if (/\bTABLE( IF NOT EXISTS)? events\s/.test(sql)) session.query(sql);
  });

  afterAll(async () => {
    session.close();
    await rm(scratch, { recursive: true });
  });

  async function insert(rows: readonly EventRow[]): Promise<readonly string[]> {
    session.query('TRUNCATE TABLE events');
    const encoder = new EventRowsEncoder(POSITION);
    for (const row of rows) encoder.append(row);
    const { columns, body } = encoder.finish();
    const path = join(scratch, 'rows.arrows');
    await writeFile(path, body);
    const names = columns.map((name) => `\`${name}\``).join(', ');
    await session.queryAsync(
      `INSERT INTO events (${names}) SELECT ${names} FROM file('${path}', 'ArrowStream')`,
    );
    return columns;
  }

  async function select(sql: string): Promise<ArrowColumns> {
    const result = await session.queryAsync(`${sql} ${SETTINGS}`, { format: 'ArrowStream' });
    return ArrowColumns.read(result.bytes());
  }

  async function readEvents(): Promise<AnyEvent[]> {
    const reader = new EventRowReader(await select('SELECT * FROM events ORDER BY log_offset'));
    return Array.from({ length: reader.numRows }, (_, row) => {
      reader.row = row;
      return readEventRow(reader);
    });
  }

  it('are equal to the events written, for every kind', async () => {
    // Latencies are kept as float32, which 0.02 is not.
    const events = sampleEvents().map((event) =>
      event.kind === 'StepRecorded' ? { ...event, payload: { ...event.payload, environmentMs: 0.5 } } : event,
    );
    await insert(events.map((event, offset) => eventRow(offset, event)));
    const stored = await readEvents();
    expect(stored).toEqual(events);
    expect(stored.map(contentChecksum)).toEqual(events.map(contentChecksum));
  });

  it('keep null, NaN and empty apart', async () => {
    const step = sampleStep({ numTokens: 3, numActionTokens: 2 });
    const quietNaN = new Uint32Array([0x7fc0_1234, 0xffc0_0001, 0]);
    const variants = [
      { ...step, reward: null, anchor: null, parsedAction: null, sampling: null },
      { ...step, reward: 0, anchor: '', parsedAction: '', snapshot: '' },
      { ...step, rewardNames: [], rewardValues: new Float64Array(0) },
      { ...step, rewardValues: Float64Array.of(NaN, -0) },
      { ...step, tokenLogprobs: new Float32Array(quietNaN.buffer), tokenRawLogprobs: new Float32Array(3) },
      { ...sampleStep({ numTokens: 0, numActionTokens: 0 }), tokenEntropies: new Float32Array(0) },
      { ...sampleStep({ numTokens: 0, numActionTokens: 0 }), tokenEntropies: null },
      { ...step, actionValid: null, generationMs: null, environmentMs: null },
      { ...step, messages: { input: [], output: null }, usage: NO_USAGE },
      { ...step, usage: { ...NO_USAGE, inputTokens: 0, costUsd: 0 }, untrainable: 'a retry' },
    ];
    const events = variants.map((payload, i) =>
      sampleEpisodeEvent('StepRecorded', { ...payload, step: i, keptPrefixTokens: i }, i + 1),
    );
    await insert(events.map((event, offset) => eventRow(offset, event)));
    const stored = await readEvents();
    expect(stored.map(contentChecksum)).toEqual(events.map(contentChecksum));
    // What the checksum leaves out is stored all the same.
    const unchecked = ({ payload }: AnyEvent) => {
      const { generationMs, untrainable } = payload as StepRecorded;
      return { generationMs, untrainable };
    };
    expect(stored.map(unchecked)).toEqual(events.map(unchecked));
  });

  it('keep unknown seeds, no tags and no metadata of an episode', async () => {
    const events = [
      { environmentSeed: null, samplingSeed: 0, environment: '', externalId: '' },
      { tags: [], metadata: null, parentEpisodeId: null, forkedFrom: null, forkedFromRunId: null },
      { tags: ['a', 'a b'], metadata: {} },
    ].map((payload) => sampleEpisodeEvent('EpisodeStarted', payload));
    const annotations = [
      { tags: null, metadata: null },
      { tags: [], metadata: false },
    ].map((payload) => sampleEpisodeEvent('EpisodeAnnotated', payload));
    const all: AnyEvent[] = [...events, ...annotations];
    await insert(all.map((event, offset) => eventRow(offset, event)));
    expect(await readEvents()).toEqual(all);
  });

  it('keep every integer that an event may carry', async () => {
    const largest = Number.MAX_SAFE_INTEGER;
    const event = sampleEpisodeEvent('EpisodeStarted', {
      environmentSeed: largest,
      samplingSeed: largest,
      groupSize: largest,
      groupMember: largest - 1,
    });
    await insert([eventRow(largest, event)]);
    expect(await readEvents()).toEqual([event]);
    expect((await select('SELECT log_offset FROM events')).numbers('log_offset')[0]).toBe(largest);
  });

  it('leave out the columns that no row fills', async () => {
    const columns = await insert([eventRow(0, sampleEpisodeEvent('RewardAssigned'))]);
    expect(columns).toContain('reward_name');
    expect(columns).not.toContain('token_ids');
    expect(columns).not.toContain('metric_values');
  });

  it('keep the bytes of a dead letter, and give a watermark a key of its own', async () => {
    const bytes = Uint8Array.of(0, 255, 39, 92, 10);
    await insert([
      { offset: 7, deadLetter: { code: 'NOT_AN_EVENT', reason: 'record starts with 00ff27', bytes } },
      { offset: 7, watermark: true },
    ]);
    session.query('OPTIMIZE TABLE events FINAL');
    const rows = await select(
      'SELECT kind, run_id, log_stream, log_partition, log_offset, raw, payload FROM events ORDER BY kind',
    );
    expect(rows.texts('kind')).toEqual(['_dead_letter', '_watermark']);
    expect([...rows.numbers('log_offset')]).toEqual([7, 7]);
    expect(rows.texts('log_stream')).toEqual(['trajectories', 'trajectories']);
    expect([...rows.numbers('log_partition')]).toEqual([3, 3]);
    expect([...rows.bytes('raw')[0]]).toEqual([...bytes]);
    expect(JSON.parse(rows.texts('payload')[0])).toEqual({
      code: 'NOT_AN_EVENT',
      reason: 'record starts with 00ff27',
    });
  });
});
