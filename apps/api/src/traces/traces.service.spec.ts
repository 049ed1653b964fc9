import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { RecordingError, type WireRecord } from '@retrace/recording';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { ApiConfig } from '../config/api-config.js';
import type { RecordingService } from '../ingest/recording.service.js';
import { TracesService } from './traces.service.js';

const RUN = 'id:01a00000-0000-7000-8000-000000000001';

/** Takes a batch as a whole, unless a record has a field that it does not take. */
class Recording {
  readonly taken: WireRecord[] = [];

  constructor(private readonly refused: readonly { type: string; field: string }[]) {}

  appendRecords(_runId: string, records: readonly WireRecord[]): Promise<void> {
    for (const [index, record] of records.entries())
      for (const { type, field } of this.refused) {
        if (record.type !== type || !Object.hasOwn(record, field)) continue;
        const value: unknown = Object.entries(record).find(([name]) => name === field)?.[1];
        const faults = [{ index, field, value, rule: 'must be absent' }];
        return Promise.reject(new RecordingError('INVALID_RECORDS', `${field} must be absent`, { faults }));
      }
    this.taken.push(...records);
    return Promise.resolve();
  }
}

const EPISODE: readonly WireRecord[] = [
  { type: 'episode', episode: 'a', task: 't' },
  { type: 'step', episode: 'a', step: 0, action: 'one', model: 'm' },
  { type: 'step', episode: 'a', step: 1, action: 'two' },
  { type: 'end', episode: 'a', numSteps: 2, endReason: 'terminated' },
] as never;

function serviceOn(recording: Recording): TracesService {
  return new TracesService({} as ApiConfig, recording as unknown as RecordingService);
}

describe('TracesService', () => {
  beforeAll(() => {
    vi.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
  });

  it('stores a poorer record in place of each that is refused for what is in it, and the rest of the trace as it is', async () => {
    const recording = new Recording([
      { type: 'step', field: 'model' },
      { type: 'episode', field: 'task' },
    ]);
    const traces = serviceOn(recording);
    await traces.write(RUN, EPISODE);
    expect(recording.taken.map(({ type }) => type)).toEqual(['episode', 'step', 'step', 'end']);
    expect(recording.taken[0]).not.toHaveProperty('task');
    expect(recording.taken[1]).toMatchObject({
      ...{ action: 'one', step: 0 },
      untrainable: expect.stringContaining('refused: model must be absent') as unknown,
    });
    expect(recording.taken[2]).toMatchObject({ action: 'two' });
    expect(traces.numPoorer).toBe(2);
  });

  it('passes the refusal on where no poorer record helps', async () => {
    const recording = new Recording([{ type: 'end', field: 'episode' }]);
    await expect(serviceOn(recording).write(RUN, EPISODE)).rejects.toThrow('episode must be absent');
    expect(recording.taken).toEqual([]);
  });

  it('can be used once the file is gone for which its directory could not be opened', async () => {
    const traceDirectory = await mkdtemp(join(tmpdir(), 'retrace-traces-'));
    const broken = join(traceDirectory, '0000000001.spool');
    await writeFile(broken, 'x'.repeat(100));
    const config = { traceDirectory, traceIdleMs: 1_000 } as ApiConfig;
    const traces = new TracesService(config, new Recording([]) as unknown as RecordingService);
    const nothing = { spans: [], numInvalid: 0 };
    await expect(traces.accept(nothing, undefined)).rejects.toThrow('is not a spool file');
    await rm(broken);
    expect(await traces.accept(nothing, undefined)).toBeNull();
    await traces.onModuleDestroy();
    await rm(traceDirectory, { recursive: true });
  });
});
