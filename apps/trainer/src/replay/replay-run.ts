import { Replayer, type ReplaySource } from './replayer.js';

export interface ReplayRunOptions extends ReplaySource {
  /** Called after each update. */
  readonly onUpdate?: (updateNumber: number, isExact: boolean) => void;
  /** Ends the replay after the update under way. */
  readonly signal?: AbortSignal;
}

/** A policy whose weights are not those that were published. */
export interface DifferingPolicy {
  readonly policyVersion: number;
  readonly updateNumber: number;
  readonly publishedSha256: string;
  readonly replayedSha256: string;
}

export interface ReplayedRun {
  /** Updates that were made again; all of the run, unless the signal aborted. */
  readonly numUpdates: number;
  /** Policies whose weights were compared, the first of the run included. */
  readonly numPolicies: number;
  /** Those that differ, in the order of their versions; none where the log gives the same weights bit for bit. */
  readonly differing: readonly DifferingPolicy[];
  /** Weights after the last update that was made again. */
  readonly weightsSha256: string;
}

/**
 * Makes a whole run again, from the weights that its recipe starts with and the batches in the log, and compares each published policy with the
 * resulting weights. No checkpoint is read, except where an update needs a reference policy. Nothing is written.
 *
 * @throws TrainerError `RUN_UNKNOWN`; `NOT_REPLAYABLE`, RewardError `REWARD_CHANGED` as `replayUpdate`
 */
export async function replayRun(options: ReplayRunOptions): Promise<ReplayedRun> {
  const { onUpdate, signal } = options;
  const replayer = await Replayer.open(options);
  try {
    const { updates, policies } = replayer.recorded;
    const differing: DifferingPolicy[] = [];
    let numUpdates = 0;
    let numPolicies = 0;
    const compare = async (policyVersion: number): Promise<boolean> => {
      const published = policies.get(policyVersion);
      if (!published) return true;
      numPolicies++;
      const { updateNumber, weights } = published;
      const { sha256 } = await replayer.nameLike(weights);
      if (sha256 === weights.sha256) return true;
      differing.push({
        policyVersion,
        updateNumber,
        publishedSha256: weights.sha256,
        replayedSha256: sha256,
      });
      return false;
    };
    await compare(0);
    for (const [updateNumber, { commit }] of [...updates].sort(([a], [b]) => a - b)) {
      if (signal?.aborted) break;
      await replayer.makeAgain(updateNumber);
      numUpdates++;
      const isExact = await compare(commit.policyVersionOut);
      onUpdate?.(updateNumber, isExact);
    }
    const { sha256: weightsSha256 } = await replayer.engine.nameWeights();
    return { numUpdates, numPolicies, differing, weightsSha256 };
  } finally {
    await replayer.close();
  }
}
