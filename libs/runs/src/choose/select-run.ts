import { describeAmbiguousId, findByPartOfId, type RunState } from '@retrace/trajectory';
import { RunsError } from '../runs-error.js';

/** Condition on the run that `latest` stands for. */
export interface RunNeeds {
  readonly has: (run: RunState) => boolean;
  /** Completes "no run …", for a message. */
  readonly lacking: string;
}

/** Hears which run a name stands for that is not its whole id. */
export type OnChosen = (wanted: string, run: RunState) => void;

interface SelectOptions {
  readonly needs?: RunNeeds;
  readonly onChosen?: OnChosen;
}

/**
 * Finds a run by its id, or by the beginning or end of it, as pages show the last 8 characters; `latest` is the newest run that has
 * what the caller needs.
 *
 * @param runs from oldest to newest
 * @throws RunsError `RUN_UNKNOWN`; `RUN_AMBIGUOUS`, which lists the runs that are meant
 */
export function selectRun(
  runs: readonly RunState[],
  wanted: string,
  { needs, onChosen }: SelectOptions = {},
): RunState {
  if (wanted === 'latest') {
    const newest = runs.findLast((run) => needs?.has(run) ?? true);
    if (newest !== undefined) {
      onChosen?.(wanted, newest);
      return newest;
    }
    throw new RunsError(
      'RUN_UNKNOWN',
      `run "latest" not found: no run ${needs?.lacking ?? 'is in this log yet'}; see "retrace runs"`,
    );
  }
  const found = findByPartOfId(runs, wanted, ({ runId }) => runId);
  if (found.kind === 'found') {
    if (found.item.runId !== wanted) onChosen?.(wanted, found.item);
    return found.item;
  }
  if (found.kind === 'unknown') throw unknownRun(wanted);
  const candidates = found.items.map(({ runId, started: { name } }) => `${runId} (${name})`);
  throw new RunsError('RUN_AMBIGUOUS', describeAmbiguousId(`run "${wanted}"`, candidates));
}

export function unknownRun(wanted: string): RunsError {
  return new RunsError('RUN_UNKNOWN', `run "${wanted}" not found; see "retrace runs"`);
}

/** A run whose policies are here. */
export const PUBLISHING: RunNeeds = {
  has: ({ started, policies }) => started.runKind === 'trained' && policies.latest !== null,
  lacking: 'has published a policy',
};

/**
 * The run of which a policy is to be played.
 *
 * @throws RunsError `RUN_UNKNOWN`, `RUN_AMBIGUOUS`; `POLICY_REMOVED` for one that was recorded
 */
export function publishingRun(runs: readonly RunState[], wanted: string, onChosen?: OnChosen): RunState {
  const run = selectRun(runs, wanted, { needs: PUBLISHING, onChosen });
  if (run.started.runKind === 'trained') return run;
  const rule = 'a trainer outside has the policies that it published';
  throw new RunsError('POLICY_REMOVED', `run ${run.runId} was recorded, so no policy of it is here; ${rule}`);
}
