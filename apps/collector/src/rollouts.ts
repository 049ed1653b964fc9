import { nowUs } from '@retrace/trajectory';
import type { Recipe } from '@retrace/config';
import type { EnvironmentSpec } from '@retrace/environments';
import { LogError, trajectoryEnds, type ControlTail, type EventLog, type WarningLog } from '@retrace/log';
import type { CheckpointFiles, PolicyText } from '@retrace/policy';
import { abandonUnfinished, type RolloutProcess } from './round/abandon-unfinished.js';
import type { EpisodeLoops } from './loop/episode-loop.js';
import type { TrajectoryWriter } from './writer/trajectory-writer.js';

/** Everything that playing episodes of a run takes. */
export interface Rollouts {
  readonly runId: string;
  readonly recipe: Recipe;
  /** The recipe's environment. */
  readonly environment: EnvironmentSpec;
  readonly log: EventLog;
  readonly control: ControlTail;
  /** Gets a warning for each episode whose environment failed. */
  readonly warnings: Pick<WarningLog, 'raise'>;
  readonly writer: TrajectoryWriter;
  readonly checkpoints: CheckpointFiles;
  readonly text: PolicyText;
  /** How the recipe's episodes are played. */
  readonly loops: EpisodeLoops;
  /** Name of the engine that generates actions here, recorded with each step that no server generates. */
  readonly engine: string;
  readonly signal: AbortSignal;
}

/**
 * Cleans up after an earlier process with the same part of the run: appends what it left in the spool, and seals the episodes that it left open. Then
 * plays. An unavailable log is no failure once the signal has aborted.
 *
 * @param of the process whose earlier episodes these are
 */
export async function playInOrder(
  { runId, log, control, writer, signal }: Pick<Rollouts, 'runId' | 'log' | 'control' | 'writer' | 'signal'>,
  of: RolloutProcess,
  play: () => Promise<void>,
): Promise<void> {
  try {
    // Spooled records must be in the log before the episodes are read.
    if (!(await writer.flush())) return;
    // Figures of rounds begin here.
    writer.takeWaitedSeconds();
    writer.takePeakSpoolBytes();
    const ends = await trajectoryEnds(log);
    await control.catchUp();
    const occurredAtUs = nowUs();
    const abandoned = await abandonUnfinished(log, control.run(runId), { of, ends, occurredAtUs });
    if (abandoned) await control.append(runId, { kind: 'GroupsClosed', payload: abandoned });
    await play();
  } catch (error) {
    // Asked to stop while the log is unavailable: the next start abandons open episodes.
    if (!(signal.aborted && error instanceof LogError && error.retriable)) throw error;
  }
}
