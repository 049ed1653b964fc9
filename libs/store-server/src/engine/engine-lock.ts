import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Finds the process that has the engine's directory open; null when none is known.
 *
 * The engine locks its `status` file with flock(2), which Node.js can't query. Reading Linux's table of locks before the engine
 * starts spares the user the engine's message on stderr; of two that start at once, only the engine's lock decides.
 */
export async function findLockHolder(engineDirectory: string): Promise<number | null> {
  try {
    const { ino } = await stat(join(engineDirectory, 'status'));
    const locks = await readFile('/proc/locks', 'utf8');
    const holder = new RegExp(`FLOCK +ADVISORY +WRITE +(\\d+) [0-9a-f]+:[0-9a-f]+:${ino} `).exec(locks);
    return holder === null ? null : Number(holder[1]);
  } catch {
    return null;
  }
}

/** Finds the process that wrote the `status` file, if it is alive: the holder of the lock on systems without a table of locks. */
export async function findStatusWriter(engineDirectory: string): Promise<number | null> {
  try {
    const pid = Number(/^PID: (\d+)$/m.exec(await readFile(join(engineDirectory, 'status'), 'utf8'))?.[1]);
    process.kill(pid, 0);
    return pid === process.pid ? null : pid;
  } catch {
    return null;
  }
}
