/** Starts the processes of the pipeline for a bench, and reads their CPU time and memory from the operating system. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { GARBAGE_COLLECTION } from '../apps/cli/dist/roles/role-definitions.js';

export const STORE_USER = { username: 'retrace', password: 'bench' };

/** Starts `pipeline-role.mjs` as `retrace` starts the role; resolves with the process and the first message that it sends. */
export async function startRole(role, argument) {
  const script = fileURLToPath(new URL('pipeline-role.mjs', import.meta.url));
  const child = fork(script, [role, argument], {
    env: { ...process.env, UV_THREADPOOL_SIZE: '12' },
    execArgv: role === 'sink' ? GARBAGE_COLLECTION : [],
  });
  const [first] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`${role} exited with code ${code}`))),
  ]);
  const stop = async () => {
    const exited = once(child, 'exit');
    child.disconnect();
    await exited;
  };
  return { child, pid: child.pid, first, stop };
}

/** Lists a process and its descendants. */
export function processTree(pid) {
  let tasks;
  try {
    tasks = readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
  const children = tasks.flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(processTree)];
}

/** Returns the CPU time of a process so far, all its threads, in ms; the kernel counts in ticks of 10 ms. */
export function cpuMsOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** Returns the anonymous memory of a process, MiB: its own memory without mapped files. */
export function anonymousMiB(pid) {
  return Number(/RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** Returns the name of the program of a process in `/proc`. */
export function programOf(pid) {
  return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
}
