import { readdir } from 'node:fs/promises';
import { constants, getPriority, setPriority } from 'node:os';

/**
 * Lowers the priority of this process by so many steps of niceness. On Linux each thread has a priority of its own, which a thread that it
 * starts takes over: every thread is lowered, until none is found that was not. Does nothing where the system has no priorities.
 */
export async function lowerPriority(niceness: number): Promise<void> {
  try {
    const priority = Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW);
    setPriority(0, priority);
    if (process.platform === 'linux') await lowerThreads(priority);
  } catch {
    // The process works as well at its own priority.
  }
}

async function lowerThreads(priority: number): Promise<void> {
  const lowered = new Set<number>();
  for (;;) {
    const threads = (await readdir('/proc/self/task')).map(Number).filter((thread) => !lowered.has(thread));
    if (threads.length === 0) return;
    for (const thread of threads) {
      lowered.add(thread);
      try {
        setPriority(thread, priority);
      } catch {
        // The thread has ended.
      }
    }
  }
}
