import { returnFrom, type ForkedStep, type ForkResult } from '@retrace/collector';
import type { StoreClient } from '@retrace/store';

/** A row of the view `step_values`. */
export interface StepValueRow {
  readonly policy: string;
  readonly greedy: boolean;
  /** null for the step itself: the policy chose the action. */
  readonly action: string | null;
  readonly numForks: number;
  readonly meanReturn: number;
  /** null with one fork, as is the other end. */
  readonly returnLow: number | null;
  readonly returnHigh: number | null;
  readonly successRate: number | null;
  readonly successLow: number | null;
  readonly successHigh: number | null;
}

interface ForkRow {
  readonly episodeId: string;
  readonly action: string | null;
  readonly return: number | null;
  readonly success: boolean | null;
  readonly numSteps: number | null;
}

export interface ForkReport extends ForkResult {
  readonly parent: {
    readonly runId: string;
    readonly episodeId: string;
    readonly step: number;
    readonly action: string;
    /** Sum of the rewards from the step on; null when none is known. */
    readonly returnFromStep: number | null;
    readonly success: boolean | null;
  };
  readonly forks: readonly ForkRow[];
  /** Of all forks of the step so far, by policy and action. */
  readonly values: readonly StepValueRow[];
}

/** Reads what the forks came to, and what all forks of the step so far say. */
export async function readForkReport(
  client: StoreClient,
  { point, result }: { readonly point: ForkedStep; readonly result: ForkResult },
): Promise<ForkReport> {
  const { runId, episodeId, step, steps, ended } = point;
  const [forks, values] = await Promise.all([
    client.queryRows<ForkRow>(
      `SELECT fork_episode_id AS episodeId, action, return, success, num_steps AS numSteps
       FROM forks WHERE fork_run_id = {forkRunId:String} ORDER BY fork_episode_id`,
      { params: { forkRunId: result.runId } },
    ),
    client.queryRows<StepValueRow>(
      `SELECT policy, greedy, action, num_forks AS numForks, mean_return AS meanReturn, return_low AS returnLow,
         return_high AS returnHigh, success_rate AS successRate, success_low AS successLow, success_high AS successHigh
       FROM step_values
       WHERE run_id = {runId:String} AND episode_id = {episodeId:String} AND step = {step:UInt64}
       ORDER BY policy, greedy, action IS NOT NULL, action`,
      { params: { runId, episodeId, step } },
    ),
  ]);
  const { action } = steps[step];
  const parent = {
    ...{ runId, episodeId, step, action },
    returnFromStep: returnFrom(point),
    success: ended?.success ?? null,
  };
  return { ...result, parent, forks, values };
}
