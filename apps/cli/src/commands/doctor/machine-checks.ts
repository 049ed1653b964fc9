import { availableParallelism, cpus, freemem, totalmem } from 'node:os';
import { IMAGE_NOTICE } from '../../experimental.js';
import { assertPortFree } from '../../server/free-port.js';
import { runCheck, type CheckResult } from './check.js';
import { freeBytesAt, gibibytes, verdictOnFreeSpace } from './free-space.js';

/** Engine, API, collector and trainer together; with TensorFlow the last two take most of it. */
const ADVISED_MEMORY_BYTES = 4 * 2 ** 30;

/** Names the Node version, platform and processor. */
export function checkNode(): Promise<CheckResult> {
  return runCheck('node', () => ({
    verdict: 'ok',
    detail: `${process.versions.node} on ${process.platform}-${process.arch}, ${cpus()[0]?.model ?? 'unknown CPU'}, ${availableParallelism()} cores`,
  }));
}

/** Says that the container image is experimental, for a process that runs in it. */
export function checkImage(): Promise<CheckResult> {
  return runCheck('image', () => ({ verdict: 'warn', detail: IMAGE_NOTICE }));
}

/** Compares the machine's memory with what a default run needs. */
export function checkMemory(): Promise<CheckResult> {
  return runCheck('memory', () => {
    const detail = `${gibibytes(totalmem())} GiB, ${gibibytes(freemem())} GiB free`;
    return totalmem() >= ADVISED_MEMORY_BYTES
      ? { verdict: 'ok', detail }
      : { verdict: 'warn', detail: `${detail}; ${gibibytes(ADVISED_MEMORY_BYTES)} GiB are advised` };
  });
}

/** Checks the free space of the disk that holds, or would hold, the data directory. */
export function checkDisk(dataDir: string): Promise<CheckResult> {
  return runCheck('disk', async () => {
    const freeBytes = await freeBytesAt(dataDir);
    const verdict = verdictOnFreeSpace(freeBytes);
    const advice = verdict === 'ok' ? '' : '; free some space, or choose another directory with --data-dir';
    return { verdict, detail: `${gibibytes(freeBytes)} GiB free for ${dataDir}${advice}` };
  });
}

/** Checks that the API can listen on a port, or does already. */
export function checkPort(host: string, port: number, ownApiUrl: string | null): Promise<CheckResult> {
  return runCheck('port', async () => {
    if (ownApiUrl !== null && Number(new URL(ownApiUrl).port) === port) {
      return { verdict: 'ok', detail: `the server of this data directory listens on ${ownApiUrl}` };
    }
    await assertPortFree(host, port);
    return { verdict: 'ok', detail: `${port} on ${host} is free` };
  });
}
