import { writeFile } from 'node:fs/promises';
import { constants, getPriority, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** Linux lets a user change the priority of one group each 100 ms. */
const RETRY_MS = 110;
const MAX_TRIES = 50;
/** A step makes the share of a session a fifth smaller: on a machine that others keep busy, all of the steps would stop the last in line. */
const SESSION_PART = 1 / 4;

/**
 * Puts a process that leads a session some steps of niceness behind this one. On Linux each thread has a priority of its own, which new threads inherit,
 * so this is called before the process has threads. Where Linux shares the processors among sessions first (`sched_autogroup_enabled`), the priority of
 * a process counts only within its session, so the session gets a part of it.
 */
export function lowerPriority(pid: number, niceness: number): void {
  const priority = Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW);
  try {
    setPriority(pid, priority);
  } catch {
    // The process has ended already, or the system has no priorities.
    return;
  }
  if (process.platform === 'linux') void lowerSession(pid, Math.round(priority * SESSION_PART));
}

async function lowerSession(pid: number, priority: number): Promise<void> {
  for (let i = 0; i < MAX_TRIES; i++) {
    try {
      await writeFile(`/proc/${pid}/autogroup`, `${priority}`);
      return;
    } catch (error) {
      // Others: the process has ended, or this system has no such groups.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      await sleep(RETRY_MS, undefined, { ref: false });
    }
  }
}
