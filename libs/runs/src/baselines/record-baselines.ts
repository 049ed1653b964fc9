import { needsCollector, needsValidator, type Recipe } from '@retrace/config';
import type { EventLog } from '@retrace/log';
import { newControlEvent, nowUs, type Baseline, type RunState } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';

export interface MeasuredBaselines {
  readonly baselines: readonly Baseline[];
  /** Why there are no more; null where there are all. */
  readonly missing: string | null;
}

interface RecordBaselinesOptions {
  readonly log: EventLog;
  readonly run: RunState;
  readonly recipe: Recipe;
  /** Plays the scripted agents of the recipe's environment, until the signal aborts. */
  readonly measure: (recipe: Recipe, signal: AbortSignal) => Promise<MeasuredBaselines>;
  /** Ends the measuring; nothing is recorded then. */
  readonly signal: AbortSignal;
  /** Receives one line when baselines are missing. */
  readonly onNotice: (line: string) => void;
}

/**
 * Measures the baselines of a run that has none yet, and appends them, the best first. A failure costs the baselines and not the run. Never rejects.
 */
export async function recordBaselines(options: RecordBaselinesOptions): Promise<void> {
  const { log, run, recipe, signal, onNotice } = options;
  if (signal.aborted || run.hasBaselines || !hasBaselines(recipe)) return;
  try {
    const { baselines, missing } = await options.measure(recipe, signal);
    if (signal.aborted) return;
    if (missing !== null)
      onNotice(
        `baselines: ${baselines.length} measured, then ${missing}; the run goes on without the others`,
      );
    if (baselines.length === 0) return;
    const payload = { baselines: [...baselines].sort((a, b) => b.success - a.success) };
    const ids = { logId: log.logId, runId: run.runId, occurredAtUs: nowUs() };
    await log.append('control', 0, [
      encodeEvent(newControlEvent({ kind: 'BaselinesMeasured', ...ids, payload })),
    ]);
  } catch (error) {
    if (!signal.aborted) onNotice(`baselines: none recorded: ${(error as Error).message}`);
  }
}

/** Whether the run plays in an environment of this installation. The episodes of a server are for training, and it knows no baselines. */
export function hasBaselines(recipe: Recipe): boolean {
  const { environment } = recipe;
  if (typeof environment !== 'string' && environment.server) return false;
  return needsCollector(recipe) || needsValidator(recipe);
}
