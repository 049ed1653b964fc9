import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { availableParallelism, cpus, freemem, totalmem } from 'node:os';
import { dirname, resolve } from 'node:path';
import { assertPortFree } from '../../server/free-port.js';
import { runCheck, type CheckResult } from './check.js';

const gibibyte = 1024 ** 3;
/** Log, store and checkpoints of a default run fit into this. */
const advisedDiskBytes = 5 * gibibyte;
const neededDiskBytes = 0.25 * gibibyte;
/** Engine, API, collector and trainer together; each of the last two takes most of it with TensorFlow. */
const advisedMemoryBytes = 4 * gibibyte;

export function checkNode(): Promise<CheckResult> {
  return runCheck('node', () => ({
    verdict: 'ok',
    detail: `${process.versions.node} on ${process.platform}-${process.arch}, ${cpus()[0]?.model ?? 'unknown CPU'}, ${String(availableParallelism())} cores`,
  }));
}

export function checkMemory(): Promise<CheckResult> {
  return runCheck('memory', () => {
    const detail = `${gibibytes(totalmem())} GiB, ${gibibytes(freemem())} GiB free`;
    return totalmem() >= advisedMemoryBytes
      ? { verdict: 'ok', detail }
      : { verdict: 'warn', detail: `${detail}; ${gibibytes(advisedMemoryBytes)} GiB are advised` };
  });
}

export function checkDisk(dataDir: string): Promise<CheckResult> {
  return runCheck('disk', async () => {
    const { bavail, bsize } = await statfs(nearestExisting(resolve(dataDir)));
    const freeBytes = bavail * bsize;
    const detail = `${gibibytes(freeBytes)} GiB free for ${dataDir}`;
    if (freeBytes >= advisedDiskBytes) return { verdict: 'ok', detail };
    const advice = 'free some space, or choose another directory with --data-dir';
    return { verdict: freeBytes < neededDiskBytes ? 'fail' : 'warn', detail: `${detail}; ${advice}` };
  });
}

export function checkPort(host: string, port: number, ownApiUrl: string | null): Promise<CheckResult> {
  return runCheck('port', async () => {
    if (ownApiUrl !== null && Number(new URL(ownApiUrl).port) === port) {
      return { verdict: 'ok', detail: `the server of this data directory listens on ${ownApiUrl}` };
    }
    await assertPortFree(host, port);
    return { verdict: 'ok', detail: `${String(port)} on ${host} is free` };
  });
}

function nearestExisting(path: string): string {
  return existsSync(path) ? path : nearestExisting(dirname(path));
}

function gibibytes(bytes: number): string {
  return (bytes / gibibyte).toFixed(1);
}
