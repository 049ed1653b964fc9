import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** Process ids of the torch workers that a process started, however far down; one a rank. */
export function workersBelow(ancestor: number): number[] {
  const parents = new Map<number, number>();
  for (const pid of runningPids()) {
    const parent = findParent(pid);
    if (parent !== null) parents.set(pid, parent);
  }
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && (pid === ancestor || (pid > 1 && isBelow(parents.get(pid))));
  return [...parents.keys()].filter((pid) => isWorker(pid) && isBelow(pid));
}

/** Whether a process runs and is a torch worker. */
export function isWorker(pid: number): boolean {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    // What starts a worker has the worker's command line among its own arguments.
    const isPython = basename(command[0]).startsWith('python') && !command.includes('torch.distributed.run');
    return isPython && command.includes('retrace.engine') && findParent(pid) !== null;
  } catch {
    return false;
  }
}

export function runningPids(): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number);
}

/** Null for a process that has ended. */
function findParent(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? null : Number(parent);
  } catch {
    return null;
  }
}

/** Ends processes at once; returns how many. */
export function killAll(pids: readonly number[]): number {
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  return pids.length;
}
