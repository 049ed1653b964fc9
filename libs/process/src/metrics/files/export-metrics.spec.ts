import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLog, type EventLog } from '@retrace/log';
import { appendEvents } from '@retrace/log/testing';
import type { AnyEvent, ControlEventKind, PayloadOf } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TensorboardFile, tensorboardPath } from '../tensorboard/tensorboard-file.js';
import { exportMetrics } from './export-metrics.js';
import { JsonLinesMetricsFile } from './json-lines-file.js';

const [RUN, OTHER] = ['01936d00-0000-7000-8000-00000000000a', '01936d00-0000-7000-8000-00000000000b'];

let directory: string;
let log: EventLog;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-metrics-'));
  log = await openLog({ kind: 'lmdb', path: join(directory, 'log') }, 'test');
});

afterEach(async () => {
  await log.close();
  await rm(directory, { recursive: true });
});

async function append<K extends ControlEventKind>(kind: K, payload: Partial<PayloadOf<K>>, runId = RUN) {
  const ids = { logId: log.logId, runId, occurredAtUs: 1_732_449_600_123_000 };
  await appendEvents(log, [controlEvent(ids, kind, payload) as AnyEvent]);
}

async function start(runId = RUN): Promise<void> {
  await append('RunStarted', {}, runId);
  await append('TrainerClaimed', { epoch: 0, trainerId: 'first' }, runId);
}

const logged = (
  source: 'trainer' | 'collector' | 'evaluation',
  step: number,
  values: Record<string, number>,
) => ({
  ...{ source, step },
  names: Object.keys(values),
  values: Float64Array.from(Object.values(values)),
});

async function update(updateNumber: number, loss: number, { runId = RUN, epoch = 0 } = {}): Promise<void> {
  const ids = { planId: randomUUID(), updateNumber, epoch };
  await append('BatchPlanned', ids, runId);
  await append('UpdateApplied', { ...ids, policyVersionOut: updateNumber }, runId);
  await append(
    'MetricsLogged',
    logged('trainer', updateNumber, { 'train/loss': loss, 'train/kl': NaN }),
    runId,
  );
}

const path = () => join(directory, 'metrics', 'run.jsonl');

/** Exports all that is in the log by now. */
async function exportTo(file: string, runId = RUN): Promise<string[]> {
  const writer = await JsonLinesMetricsFile.open(file, runId);
  await exportMetrics(log, { runId, writers: [writer], signal: AbortSignal.abort() });
  await writer.close();
  return (await readFile(file, 'utf8')).split('\n').slice(0, -1);
}

const parsed = (lines: readonly string[]) => lines.map((line) => JSON.parse(line) as Record<string, unknown>);

describe('metrics file', () => {
  it('has one line for each update and evaluation, with the metrics of the newest round and without NaN', async () => {
    await start();
    await append('MetricsLogged', logged('collector', 1, { 'rollout/success': 0.25 }));
    await update(1, 0.5);
    await append('MetricsLogged', logged('evaluation', 1, { 'validation/success': 0.75 }));
    await update(2, Infinity);
    const common = { run: RUN, time: '2024-11-24T12:00:00.123Z' };
    expect(parsed(await exportTo(path()))).toEqual([
      { ...common, kind: 'update', step: 1, 'train/loss': 0.5, 'rollout/success': 0.25 },
      { ...common, kind: 'validation', step: 1, 'validation/success': 0.75 },
      { ...common, kind: 'update', step: 2, 'train/loss': null },
    ]);
  });

  it('leaves out what a trainer logged that had lost its claim, and a second evaluation of one policy', async () => {
    await start();
    await update(1, 0.5);
    await append('TrainerClaimed', { epoch: 1, trainerId: 'second' });
    await update(2, 99, { epoch: 0 });
    await update(2, 0.25, { epoch: 1 });
    for (const success of [0.5, 0.9]) {
      await append('MetricsLogged', logged('evaluation', 2, { 'test/success': success }));
    }
    const lines = parsed(await exportTo(path()));
    expect(lines.map(({ kind, step }) => [kind, step].join(' '))).toEqual(['update 1', 'update 2', 'test 2']);
    expect(lines[1]).toMatchObject({ 'train/loss': 0.25 });
    expect(lines[2]).toMatchObject({ 'test/success': 0.5 });
  });

  it('keeps the lines of several runs apart', async () => {
    await start();
    await start(OTHER);
    await update(1, 1);
    await update(1, 2, { runId: OTHER });
    await exportTo(path());
    await exportTo(path(), OTHER);
    await update(2, 3);
    const lines = parsed(await exportTo(path()));
    expect(lines.map(({ run, step }) => [run, step])).toEqual([
      [RUN, 1],
      [OTHER, 1],
      [RUN, 2],
    ]);
  });

  it('follows the log until it is told to end, and then has all that was committed', async () => {
    await start();
    const writer = await JsonLinesMetricsFile.open(path(), RUN);
    const over = new AbortController();
    const exporting = exportMetrics(log, { runId: RUN, writers: [writer], signal: over.signal });
    for (const n of [1, 2, 3]) await update(n, n);
    over.abort();
    await exporting;
    await writer.close();
    expect(parsed((await readFile(path(), 'utf8')).trim().split('\n')).map(({ step }) => step)).toEqual([
      1, 2, 3,
    ]);
  });

  it.each(['{"run":"x"}\n', 'my notes', '[1]\n{"run":', '{"run":"a","kind":"update","step":1}\nx'])(
    'refuses a file with other content and leaves it as it was: %j',
    async (content) => {
      const file = join(directory, 'other.txt');
      await writeFile(file, content);
      await expect(JsonLinesMetricsFile.open(file, RUN)).rejects.toThrow(/not metrics of Retrace/);
      expect(await readFile(file, 'utf8')).toBe(content);
    },
  );
});

describe('files of metrics that a killed process left', () => {
  const tensorboard = () => tensorboardPath(join(directory, 'tb'), { runId: RUN, name: 'my recipe' });

  async function exportBoth(): Promise<[Buffer, Buffer]> {
    const writers = [
      await JsonLinesMetricsFile.open(path(), RUN),
      await TensorboardFile.open(tensorboard(), RUN),
    ];
    await exportMetrics(log, { runId: RUN, writers, signal: AbortSignal.abort() });
    for (const writer of writers) await writer.close();
    return [await readFile(path()), await readFile(tensorboard())];
  }

  it('are completed to the same bytes, wherever they were cut', async () => {
    await start();
    for (const n of [1, 2, 3, 4]) {
      await append('MetricsLogged', logged('collector', n, { 'rollout/success': n / 4 }));
      await update(n, 1 / n);
    }
    const whole = await exportBoth();
    const cutAt = (bytes: Buffer) => fc.nat({ max: bytes.length });
    await fc.assert(
      fc.asyncProperty(cutAt(whole[0]), cutAt(whole[1]), async (jsonCut, tensorboardCut) => {
        await writeFile(path(), whole[0].subarray(0, jsonCut));
        await writeFile(tensorboard(), whole[1].subarray(0, tensorboardCut));
        expect(await exportBoth()).toEqual(whole);
      }),
      { numRuns: 60 },
    );
  });

  it('are written again from the first damaged event on', async () => {
    await start();
    for (const n of [1, 2, 3]) await update(n, n);
    const [, whole] = await exportBoth();
    const damaged = Buffer.from(whole);
    damaged[Math.floor(whole.length / 2)] ^= 1;
    await writeFile(tensorboard(), damaged);
    expect((await exportBoth())[1]).toEqual(whole);
  });
});
