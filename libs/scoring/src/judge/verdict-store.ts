import type { EventLog } from '@retrace/trajectory';
import type { AssignedReward } from '@retrace/trajectory/clickhouse';
import { appendVerdicts, verdictsOf, type VerdictOfEpisode } from './verdict-log.js';
import type { JudgeVerdict } from './verdict.js';

/** Where assigned rewards are read; `TrajectoryReader` is one. */
export interface AssignedRewardSource {
  readAssignedRewards(runId: string, episodeIds: readonly string[]): Promise<AssignedReward[]>;
}

export interface VerdictStoreOptions {
  readonly log: EventLog;
  readonly reader: AssignedRewardSource;
  readonly runId: string;
}

/** What judges said about the episodes of one run: read from the store, written to the log. */
export class VerdictStore {
  constructor(private readonly options: VerdictStoreOptions) {}

  /** By episode; those without any assigned reward are absent. */
  async read(episodeIds: readonly string[]): Promise<Map<string, EpisodeVerdicts>> {
    const { reader, runId } = this.options;
    const byEpisode = new Map<string, AssignedReward[]>();
    for (const reward of await reader.readAssignedRewards(runId, episodeIds)) {
      const known = byEpisode.get(reward.episodeId);
      if (known === undefined) byEpisode.set(reward.episodeId, [reward]);
      else known.push(reward);
    }
    return new Map(
      [...byEpisode].map(([episodeId, rewards]) => [
        episodeId,
        { verdicts: verdictsOf(rewards), nextSeq: Math.max(...rewards.map(({ seq }) => seq)) + 1 },
      ]),
    );
  }

  /** Resolves when the verdicts are acknowledged. */
  async append(verdicts: readonly VerdictOfEpisode[]): Promise<void> {
    if (verdicts.length > 0) await appendVerdicts(this.options.log, this.options.runId, verdicts);
  }
}

export interface EpisodeVerdicts {
  readonly verdicts: readonly JudgeVerdict[];
  /** Place of the next reward that is assigned to the episode. */
  readonly nextSeq: number;
}
