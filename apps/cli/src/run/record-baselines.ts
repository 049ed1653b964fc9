import { Worker } from 'node:worker_threads';
import { episodeLimits, type Recipe } from '@retrace/config';
import type { EventLog } from '@retrace/log';
import { newControlEvent, type Baseline, nowUs } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { installation } from '../installation.js';
import type { BaselineOptions } from './measure-baselines.js';

const NUM_EPISODES = 1000;
/** Longest time for all baselines of a run. */
const LONGEST_MS = 600_000;

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
 * Measures the baselines of a run beside it and appends them. They are measured in a thread of its own, which can be
 * ended even where an environment never gives it back; a failure costs the baselines and not the run. Never rejects.
 */
export async function recordBaselines(options: RecordBaselinesOptions): Promise<void> {
  const { log, runId, signal, onNotice } = options;
  if (signal.aborted) return;
  try {
    const { baselines, missing } = await measureInThread(options);
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
async function measureInThread({
  recipe,
  signal,
}: Pick<RecordBaselinesOptions, 'recipe' | 'signal'>): Promise<{
  baselines: Baseline[];
  missing: string | null;
}> {
  const { environment, tasks, seed } = recipe;
  // A server's episodes are for training; it knows no baselines either.
  if (typeof environment !== 'string' && environment.server) return { baselines: [], missing: null };
  const limits = episodeLimits(recipe);
  const workerData: BaselineOptions = { environment, tasks, seed, numEpisodes: NUM_EPISODES, limits };
  const thread = new Worker(installation.scripts.baselines, { workerData });
  // A command that is done does not wait for it.
  thread.unref();
  const baselines: Baseline[] = [];
  thread.on('message', (baseline: Baseline) => baselines.push(baseline));
  const timeout = AbortSignal.timeout(LONGEST_MS);
  const missing = await new Promise<string | null>((resolve) => {
    thread.once('error', (error) => {
      resolve(error.message);
    });
    thread.once('exit', () => {
      resolve(null);
    });
    const stop = () => {
      resolve(`${LONGEST_MS / 60_000} minutes had passed`);
    };
    AbortSignal.any([signal, timeout]).addEventListener('abort', stop, { once: true });
  });
  await thread.terminate();
  return { baselines, missing };
}
