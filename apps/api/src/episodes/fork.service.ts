import { Injectable } from '@nestjs/common';
import { asksAboutNow } from '../store/asked-moment.js';
import { ControlChanges, type ControlLook } from '../store/control-changes.js';
import { mayStillAnswer, type ReadValue } from '../store/patience.js';
import { StoreService } from '../store/store.service.js';
import type { EpisodeParams } from './episodes.dto.js';
import type { EpisodeFork, StepValue } from './forks.dto.js';

/** Every run whose episodes others have forked; in most stores there is none. */
const FORKED_RUNS = "SELECT DISTINCT forked_from_run_id AS run_id FROM events WHERE forked_from_run_id != ''";

/** Runs that `retrace fork` played: a column that is empty in all others, read in a quarter of the time of the view. */
export const FORK_RUNS = 'SELECT run_id FROM events WHERE forked_from_run_id = {runId:String}';

const LIST_FORKS = `
  SELECT fork_run_id AS run_id, fork_episode_id AS episode_id, step, action, policy, return, success
  FROM (
    SELECT * FROM forks
    WHERE fork_run_id IN (${FORK_RUNS}) AND run_id = {runId:String} AND episode_id = {episodeId:String}
    ORDER BY step, fork_episode_id
    LIMIT 1000
  )`;

const LIST_VALUES = `
  SELECT step, policy, greedy, action, num_forks, mean_return, return_low, return_high, success_rate, success_low,
    success_high, return_from_step
  FROM (SELECT * FROM step_values WHERE run_id = {runId:String} AND episode_id = {episodeId:String}) AS of_step
  LEFT JOIN (
    SELECT step, sum(reward) OVER (ORDER BY step DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS return_from_step
    FROM stored_steps
    WHERE run_id = {runId:String} AND episode_id = {episodeId:String}
  ) AS happened USING (step)
  ORDER BY step, policy, greedy, action IS NOT NULL, action`;

/** Reads what forks of an episode's steps tell. */
@Injectable()
export class ForkService {
  /** Runs that have forks in others, and what the store had then of the control records. */
  private forked: (ReadValue<Promise<ReadonlySet<string>>> & { readonly settledOffset: number }) | null =
    null;

  constructor(
    private readonly store: StoreService,
    private readonly changes: ControlChanges,
  ) {}

  async of(key: EpisodeParams): Promise<{
    readonly forks: readonly EpisodeFork[];
    readonly stepValues: readonly StepValue[];
  }> {
    if (!(await this.anyOfRun(key.runId))) return { forks: [], stepValues: [] };
    const forks = await this.store.queryRows<EpisodeFork>(LIST_FORKS, { ...key });
    // Values are means over forks, and few episodes have any.
    if (forks.length === 0) return { forks, stepValues: [] };
    return { forks, stepValues: await this.store.queryRows<StepValue>(LIST_VALUES, { ...key }) };
  }

  /**
   * Whether other runs have forks of this run's episodes. The answer may be up to ten seconds old where the store gets a fork's episodes after its run's start
   * or end.
   */
  async anyOfRun(runId: string): Promise<boolean> {
    return (await this.findForked()).has(runId);
  }

  private async findForked(): Promise<ReadonlySet<string>> {
    const look = asksAboutNow() ? await this.changes.look() : null;
    if (look === null) return this.readForked();
    const { forked } = this;
    if (forked !== null && mayStillAnswer(forked.askedAtMs) && !hasNewRuns(look, forked.settledOffset))
      return forked.value;
    const askedAtMs = performance.now();
    const value = this.readForked();
    const reading = { value, askedAtMs, settledOffset: look.storedOffset };
    this.forked = reading;
    // A failure is that of the questions which wait for it.
    value.catch(() => {
      if (this.forked === reading) this.forked = null;
    });
    return value;
  }

  private async readForked(): Promise<ReadonlySet<string>> {
    const rows = await this.store.queryRows<{ readonly runId: string }>(FORKED_RUNS, {});
    return new Set(rows.map(({ runId }) => runId));
  }
}

/** Whether a run has started or ended since: forks are played by a run of their own. */
function hasNewRuns({ storedOffset, since }: ControlLook, settledOffset: number): boolean {
  const records = settledOffset <= storedOffset ? since(settledOffset) : null;
  return records === null || records.some(({ kind }) => kind === 'RunStarted' || kind === 'RunEnded');
}
