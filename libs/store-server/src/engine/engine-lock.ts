import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The process that has the engine's directory open, null where none is known to.
 *
 * The engine locks its `status` file with flock(2), which Node.js can't ask about. Asking Linux's own table of locks before the engine
 * is started spares the user the engine's message on stderr; two that start at once are told apart by the engine's lock alone.
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

/** The process that wrote the `status` file, if it lives: whom the engine's lock failed against where the system has no table of locks. */
export async function findStatusWriter(engineDirectory: string): Promise<number | null> {
  try {
    const pid = Number(/^PID: (\d+)$/m.exec(await readFile(join(engineDirectory, 'status'), 'utf8'))?.[1]);
    process.kill(pid, 0);
    return pid === process.pid ? null : pid;
  } catch {
    return null;
  }
}
