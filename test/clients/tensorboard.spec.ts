import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TensorboardFile, tensorboardPath } from '@retrace/process/metrics';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonWith } from './python-package.js';

const found = await pythonWith('tensorboard==2.21.0');
const TITLE = 'TensorBoard 2.21.0, which reads the event files of runs';
const title = found.kind === 'available' ? TITLE : `${TITLE} (skipped, because ${found.reason})`;

type Scalars = Record<string, [step: number, wallTime: number, value: number][]>;

describe.skipIf(found.kind === 'unavailable')(title, () => {
  let directory: string;
  const [RUN, OTHER] = ['01936d00-0000-7000-8000-00000000000a', '01936d00-0000-7000-8000-00000000000b'];
  const startedAtUs = 1_732_449_600_000_000;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'retrace-tensorboard-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  async function writeRun(runId: string, from: number, to: number): Promise<string> {
    const path = tensorboardPath(directory, { runId, name: 'grpo on frozen lake' });
    const file = await TensorboardFile.open(path, runId);
    for (let step = from; step <= to; step++) {
      const values = [
        ['train/loss', 1 / step],
        ['rollout/success', step / 300],
        ['reward/max', Infinity],
        ['ключ/ü', -1e-12 * step],
      ] as const;
      await file.write({ kind: 'update', step, occurredAtUs: startedAtUs + step * 1_500_000, values });
    }
    await file.close();
    return path;
  }

  async function read(): Promise<Record<string, Scalars>> {
    if (found.kind === 'unavailable') throw new Error(found.reason);
    const program = join(import.meta.dirname, 'tensorboard_client.py');
    const { stdout } = await promisify(execFile)(found.python, [program, directory]);
    return JSON.parse(stdout.trim().replaceAll('Infinity', '"Infinity"')) as Record<string, Scalars>;
  }

  it('shows each run with every step once, its times and values, also after a writer was cut off', async () => {
    const path = await writeRun(RUN, 1, 250);
    const bytes = await readFile(path);
    // The last event is cut off in its middle, as by a kill; the next writer finds 249 and goes on.
    await writeFile(path, bytes.subarray(0, bytes.length - 20));
    await writeRun(RUN, 250, 300);
    await writeRun(OTHER, 1, 1);
    const runs = await read();
    expect(Object.keys(runs).sort()).toEqual([
      'grpo-on-frozen-lake-0000000a',
      'grpo-on-frozen-lake-0000000b',
    ]);
    const scalars = runs['grpo-on-frozen-lake-0000000a'];
    const steps = Array.from({ length: 300 }, (_, i) => i + 1);
    expect(scalars['train/loss']).toEqual(
      steps.map((step) => [step, 1_732_449_600 + step * 1.5, Math.fround(1 / step)]),
    );
    expect(scalars['rollout/success'].at(-1)?.[2]).toBe(1);
    expect(scalars['reward/max'][0][2]).toBe('Infinity');
    expect(scalars['ключ/ü'][0][2]).toBe(Math.fround(-1e-12));
  });
});
