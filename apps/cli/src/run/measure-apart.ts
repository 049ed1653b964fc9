import { fork, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { BaselineOptions } from '@retrace/collector';
import { episodeLimits, type Recipe } from '@retrace/config';
import type { MeasuredBaselines } from '@retrace/runs/begin';
import type { Baseline } from '@retrace/trajectory';
import { installation } from '../installation.js';
import { lowerPriority } from '../supervisor/lower-priority.js';

const NUM_EPISODES = 1000;
/** Longest time for all baselines of a run. */
const LONGEST_MS = 600_000;
const LOWEST_PRIORITY = 19;
/** Characters that are kept of what it said before it failed. */
const LONGEST_REASON = 4_000;

/** Measures baselines in a process of its own, which yields the processor to the run, and can be ended even where an environment never gives it back. */
export async function measureApart(recipe: Recipe, signal: AbortSignal): Promise<MeasuredBaselines> {
  const { environment, tasks, seed } = recipe;
  const limits = episodeLimits(recipe);
  const options: BaselineOptions = { environment, tasks, seed, numEpisodes: NUM_EPISODES, limits };
  const child = fork(installation.program('baselines'), {
    // In a session of its own, or its priority would count only beside this process.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
  });
  const ended = awaitEnd(child);
  if (child.pid !== undefined) lowerPriority(child.pid, LOWEST_PRIORITY);
  const baselines: Baseline[] = [];
  child.on('message', (baseline) => baselines.push(baseline as Baseline));
  child.send(options, () => undefined);
  const timeout = AbortSignal.timeout(LONGEST_MS);
  const stopped = new Promise<string>((resolve) => {
    const stop = () => {
      resolve(`${LONGEST_MS / 60_000} minutes had passed`);
    };
    AbortSignal.any([signal, timeout]).addEventListener('abort', stop, { once: true });
  });
  const missing = await Promise.race([ended, stopped]);
  child.kill('SIGKILL');
  return { baselines, missing };
}

/** Resolves once a process has ended: to null, or to why it failed. A command that is done does not wait for it. */
function awaitEnd(child: ChildProcess): Promise<string | null> {
  child.unref();
  child.channel?.unref();
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-LONGEST_REASON);
  });
  (child.stderr as Socket | null)?.unref();
  return new Promise((resolve) => {
    child.once('error', (error) => {
      resolve(error.message);
    });
    child.once('close', (code) => {
      const reason =
        /^(?:\w*Error(?: \[\w+\])?: )(.*)$/m.exec(said)?.[1] ?? `it ended with exit code ${code}`;
      resolve(code === 0 ? null : reason);
    });
  });
}
