import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newRunId } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { bundleForChild, type ChildModule } from '../contract/child-module.contract.js';
import type { FileDamage, DamagedLogReport } from './damaged-log-process.contract.js';
import { openLmdbLog } from './open-lmdb-log.js';

const run = promisify(execFile);
const PAGE_BYTES = 4096;
const NUM_DAMAGES = 40;
const SEED = 20261123;

/** A log of small and large records with free pages, of which damaged copies are used in another process: the driver would end this one. */
describe('a damaged LMDB log', () => {
  let directory: string;
  let child: ChildModule;
  let sizeBytes: number;
  const template = () => join(directory, 'whole');

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'retrace-damage-'));
    child = await bundleForChild(new URL('./damaged-log-process.contract.ts', import.meta.url));
    const log = await openLmdbLog({ path: template(), createdBy: 'test', numTrajectoryPartitions: 2 });
    const ids = { logId: log.logId, runId: newRunId() };
    await log.append('control', 0, [encodeEvent(controlEvent(ids, 'RunStarted'))]);
    for (let i = 0; i < 20; i++) {
      await log.append(
        'control',
        0,
        Array.from({ length: 10 }, () => encodeEvent(controlEvent(ids, 'MetricsLogged'))),
      );
      for (let ordinal = 10 * i; ordinal < 10 * i + 10; ordinal++) {
        const numTokens = ordinal % 10 === 0 ? 2_000 : 12;
        const records = episodeEvents({ ...ids, ordinal, numTokens }).map(encodeEvent);
        await log.append('trajectories', ordinal % 2, records);
      }
      await log.commitCursor('sink', 'trajectories', 0, i);
    }
    await log.release?.('trajectories', 1, [{ from: 100, end: 160 }]);
    await log.close();
    sizeBytes = (await stat(join(template(), 'data.mdb'))).size;
  });

  afterAll(async () => {
    await child.remove();
    await rm(directory, { recursive: true });
  });

  /** @throws when the process does not end by itself with exit code 0 */
  async function use(damages: readonly FileDamage[]): Promise<DamagedLogReport[]> {
    const work = await mkdtemp(join(directory, 'work-'));
    const { stdout } = await run(process.execPath, [child.path, template(), work, JSON.stringify(damages)], {
      timeout: 120_000,
    });
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as DamagedLogReport);
  }

  async function expectNothingLost(damages: readonly FileDamage[]): Promise<DamagedLogReport[]> {
    const reports = await use(damages);
    expect(reports).toHaveLength(damages.length);
    reports.forEach((report, i) => {
      const what = JSON.stringify([damages[i], report]);
      if (report.error === null) expect(report, what).toMatchObject({ numLost: 0 });
      else expect(report.error, what).toMatchObject({ code: 'LOG_CORRUPT' });
    });
    return reports;
  }

  const byte = fc.constantFrom(0, 0, 0, 0xff, 0x41);
  const pages = () => fc.nat(sizeBytes / PAGE_BYTES - 1);
  const sample = <T>(damage: fc.Arbitrary<T>) => fc.sample(damage, { seed: SEED, numRuns: NUM_DAMAGES });

  it('is used as it was where nothing is damaged', async () => {
    const [report] = await use([{ kind: 'cut', sizeBytes }]);
    expect(report).toEqual({ error: null, numLost: 0, numInvalid: 0 });
  });

  it('names the damaged page, and what to do', async () => {
    const [zeroed, cut] = await use([
      { kind: 'fill', from: PAGE_BYTES, end: 2 * PAGE_BYTES, byte: 0 },
      { kind: 'cut', sizeBytes: PAGE_BYTES * 20 },
    ]);
    expect(zeroed.error?.message).toMatch(
      /^the event log at \S+ is damaged: its page 1 is no meta page of LMDB's \(\d+ bytes\); stop what uses it, then restore the directory from a backup, or run `retrace rebuild --log-from-store`, which writes the log again from the store$/,
    );
    expect(cut.error?.message).toMatch(
      /page \d+ of its data file, of [a-z ]+(\/\d)?, lies beyond the file's end/,
    );
  });

  it('is refused, and never ends the process, wherever it is cut off', async () => {
    const cuts = sample(fc.integer({ min: 1, max: sizeBytes - 1 }));
    const reports = await expectNothingLost(cuts.map((at) => ({ kind: 'cut', sizeBytes: at })));
    expect(reports.filter(({ error }) => error !== null).length).toBeGreaterThan(NUM_DAMAGES * 0.8);
  });

  it('is refused, or loses no record, whichever page is overwritten', async () => {
    const fill = fc.tuple(pages(), byte).map(([page, byte]): FileDamage => ({
      kind: 'fill',
      from: page * PAGE_BYTES,
      end: (page + 1) * PAGE_BYTES,
      byte,
    }));
    const reports = await expectNothingLost(sample(fill));
    expect(reports.filter(({ error }) => error !== null).length).toBeGreaterThan(NUM_DAMAGES * 0.3);
  });

  it('is refused, or loses no record, whichever sectors are zeroed', async () => {
    const sectors = fc
      .tuple(fc.nat(sizeBytes / 512 - 1), fc.integer({ min: 1, max: 40 }))
      .map(([sector, count]): FileDamage => ({
        kind: 'fill',
        from: sector * 512,
        end: Math.min(sizeBytes, (sector + count) * 512),
        byte: 0,
      }));
    await expectNothingLost(sample(sectors));
  });

  it('is refused, or loses no record, whichever page takes the place of another', async () => {
    const copy = fc.tuple(pages(), pages()).map(([from, to]): FileDamage => ({ kind: 'copy', from, to }));
    await expectNothingLost(sample(copy));
  });
});
