import { choosePartition, type EventLog } from '@retrace/log';
import type { AssignedReward } from '@retrace/store';
import { appendVerdicts, listVerdicts, type VerdictOfEpisode } from './verdict-log.js';
import { VerdictTail } from './verdict-tail.js';
import type { JudgeVerdict } from './verdict.js';

/** Where assigned rewards are read; `TrajectoryReader` is one. */
export interface AssignedRewardSource {
  /** By episode, in log order. */
  readAssignedRewards(runId: string, episodeIds: readonly string[]): Promise<AssignedReward[]>;
}

export interface VerdictStoreOptions {
  readonly log: EventLog;
  readonly reader: AssignedRewardSource;
  readonly runId: string;
}

/** Verdicts of each episode in log order: of two on one question the first counts, always and for everybody. */
export type KnownVerdicts = ReadonlyMap<string, readonly JudgeVerdict[]>;

/**
 * Verdicts on the episodes of one run: all that are in the log, whether the store shows them yet or not. Any number of processes may
 * read and append at once.
 */
export class VerdictStore {
  private readonly tail: VerdictTail;

  constructor(private readonly options: VerdictStoreOptions) {
    this.tail = new VerdictTail(options.log, options.runId);
  }

  /** By episode; those without any are absent. */
  async read(episodeIds: readonly string[]): Promise<KnownVerdicts> {
    const { reader, runId } = this.options;
    // The tail is read before the store, so that a verdict on its way from one to the other is in at least one of them.
    await this.readTail(episodeIds);
    const inTail = await this.fromTail(episodeIds);
    const byEpisode = new Map<string, AssignedReward[]>();
    for (const reward of await reader.readAssignedRewards(runId, episodeIds)) {
      const known = byEpisode.get(reward.episodeId);
      if (known === undefined) byEpisode.set(reward.episodeId, [reward]);
      else known.push(reward);
    }
    const stored = new Map([...byEpisode].map(([id, rewards]) => [id, listVerdicts(rewards)]));
    return joined(stored, inTail);
  }

  /**
   * Appends verdicts on questions that `known` had none on. Resolves, once they are acknowledged, with all there are by then: another
   * process may have been first.
   */
  async append(verdicts: readonly VerdictOfEpisode[], known: KnownVerdicts): Promise<KnownVerdicts> {
    if (verdicts.length === 0) return known;
    await appendVerdicts(this.options.log, this.options.runId, verdicts);
    const episodeIds = [...new Set(verdicts.map(({ episodeId }) => episodeId))];
    const stored = await this.read(episodeIds);
    return joined(known, stored);
  }

  private async readTail(episodeIds: readonly string[]): Promise<void> {
    const partitions = new Set(episodeIds.map((id) => this.partitionOf(id)));
    for (const partition of partitions) await this.tail.readOn(partition);
  }

  private async fromTail(episodeIds: readonly string[]): Promise<KnownVerdicts> {
    const found = new Map<string, readonly JudgeVerdict[]>();
    for (const id of episodeIds) found.set(id, await this.tail.verdictsOf(this.partitionOf(id), id));
    return found;
  }

  private partitionOf(episodeId: string): number {
    const { log, runId } = this.options;
    return choosePartition(runId, episodeId, log.numPartitions('trajectories'));
  }
}

/** Those of the first before those of the second. */
function joined(first: KnownVerdicts, second: KnownVerdicts): KnownVerdicts {
  const all = new Map(first);
  for (const [id, verdicts] of second) {
    if (verdicts.length > 0) all.set(id, [...(all.get(id) ?? []), ...verdicts]);
  }
  return all;
}
