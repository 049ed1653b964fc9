import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Spool } from '@retrace/spool';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Strace, whyNoStrace } from '../support/strace.mjs';

const WRITER = join(import.meta.dirname, '../support/spool-writer.mjs');
const noStrace = whyNoStrace();
const skipped = noStrace === null ? '' : ` (skipped, because ${noStrace})`;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'retrace-spool-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** Runs the writer with a fault in one call; returns the records that it confirmed, what else it said, and those on disk. */
async function runWith(call: string, injection: string) {
  const folder = join(directory, 'spool');
  rmSync(folder, { recursive: true, force: true });
  const child = spawn(process.execPath, [WRITER, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // strace counts the calls of each thread by itself.
    env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const closed = once(child, 'close');
  const strace = await Strace.attach(child.pid!, [call], injection);
  child.stdin.end('go');
  await strace.detachAfter(closed, 20_000);
  await closed;
  const onDisk: number[] = [];
  const settings = { sync: true, keeps: 'prefix' } as const;
  const spool = await Spool.open(folder, settings, { onRecord: (bytes) => onDisk.push(Number(bytes)) });
  await spool.close();
  const confirmed = lines.flatMap((line) => /^has (\d+)$/.exec(line)?.[1] ?? []).map(Number);
  return { confirmed, said: lines.filter((line) => !line.startsWith('has')), onDisk };
}

describe('a spool whose process or disk fails', () => {
  it
    .skipIf(noStrace !== null)
    .each([
      ...['pwrite64', 'fdatasync'].flatMap((call) => [1, 2, 9].map((nth) => [call, nth] as const)),
      ...(['fsync', 'rename', 'unlink'] as const).map((call) => [call, 1] as const),
    ])(`has all that was confirmed, in order, when it is killed at %s %i${skipped}`, async (call, nth) => {
    const { confirmed, onDisk, said } = await runWith(call, `signal=SIGKILL:when=${nth}`);
    expect(said).toEqual([]);
    // One more may be on disk than was confirmed.
    expect(onDisk.slice(0, confirmed.length)).toEqual(confirmed);
    expect(onDisk.length - confirmed.length).toBeLessThanOrEqual(1);
  });

  it.skipIf(noStrace !== null).each([
    ['pwrite64', 'ENOSPC'],
    ['fdatasync', 'EIO'],
    ['fsync', 'EIO'],
    ['rename', 'EIO'],
  ])(`has exactly what was confirmed where %s fails once with %s${skipped}`, async (call, error) => {
    const { confirmed, onDisk, said } = await runWith(call, `error=${error}:when=1`);
    expect(said).toContain('SPOOL_WRITE_FAILED');
    expect(said.at(-1)).toBe('closed');
    expect(onDisk).toEqual(confirmed);
  });
});
