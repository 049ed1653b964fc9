import { fork, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { episodeLimits, type Recipe } from '@retrace/config';
import type { EventLog } from '@retrace/log';
import { newControlEvent, type Baseline, nowUs } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { installation } from '../installation.js';
import { lowerPriority } from '../supervisor/lower-priority.js';
import type { BaselineOptions } from './measure-baselines.js';

const NUM_EPISODES = 1000;
/** Longest time for all baselines of a run. */
const LONGEST_MS = 600_000;
const LOWEST_PRIORITY = 19;
/** Characters that are kept of what it said before it failed. */
const LONGEST_REASON = 4_000;

interface RecordBaselinesOptions {
  readonly log: EventLog;
  readonly runId: string;
  readonly recipe: Recipe;
  /** Ends the measuring; nothing is recorded then. */
  readonly signal: AbortSignal;
  /** Receives one line when baselines are missing. */
  readonly onNotice: (line: string) => void;
}

/**
 * Measures the baselines of a run beside it and appends them. They are measured in a process of its own, which yields the processor to the run, and can
 * be ended even where an environment never gives it back; a failure costs the baselines and not the run. Never rejects.
 */
export async function recordBaselines(options: RecordBaselinesOptions): Promise<void> {
  const { log, runId, signal, onNotice } = options;
  if (signal.aborted) return;
  try {
    const { baselines, missing } = await measureApart(options);
    if (signal.aborted) return;
    if (missing !== null)
      onNotice(
        `baselines: ${baselines.length} measured, then ${missing}; the run goes on without the others`,
      );
    if (baselines.length === 0) return;
    const payload = { baselines: baselines.sort((a, b) => b.success - a.success) };
    const ids = { logId: log.logId, runId, occurredAtUs: nowUs() };
    await log.append('control', 0, [
      encodeEvent(newControlEvent({ kind: 'BaselinesMeasured', ...ids, payload })),
    ]);
  } catch (error) {
    if (!signal.aborted) onNotice(`baselines: none recorded: ${(error as Error).message}`);
  }
}

/** The baselines that were measured, and why there are no more; null where there are all. */
async function measureApart({ recipe, signal }: Pick<RecordBaselinesOptions, 'recipe' | 'signal'>): Promise<{
  baselines: Baseline[];
  missing: string | null;
}> {
  const { environment, tasks, seed } = recipe;
  // A server's episodes are for training; it knows no baselines either.
  if (typeof environment !== 'string' && environment.server) return { baselines: [], missing: null };
  const limits = episodeLimits(recipe);
  const options: BaselineOptions = { environment, tasks, seed, numEpisodes: NUM_EPISODES, limits };
  const child = fork(installation.program('baselines'), {
    // In a session of its own, or its priority would count only beside this process.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
  });
  const ended = endOf(child);
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
function endOf(child: ChildProcess): Promise<string | null> {
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
