import type { EpisodeColumns, TokenBatch } from '@retrace/trajectory';
import { episodeShares } from './episode-shares.js';
import type { UpdateOutcome } from './optimizer-steps.js';
import type { ChargedRewards } from './token-rewards.js';
import { traceTokens } from './token-trace.js';
import type { UpdateResult, UpdateTokens } from './update-result.js';

type LossOfTokens = Pick<UpdateTokens, 'trainedMask' | 'keptMask'> &
  Partial<Pick<UpdateTokens, 'advantages' | 'importanceWeights'>> & {
    /** [E] How often each episode is trained; null: once. */
    readonly copies: Int32Array | null;
    readonly outcome: Pick<UpdateOutcome, 'stepTokens'>;
    /** KL that was charged to the rewards (default null: none). */
    readonly charged?: Pick<ChargedRewards, 'kls'> | null;
    /** [A] logπ of the teacher (default null: none). */
    readonly teacherLogprobs?: Float32Array | null;
  };

/** The share of each episode in an update, and the tokens with the columns of their loss, for the trace and for metrics. */
export function tokenResults(
  episodes: EpisodeColumns,
  batch: TokenBatch,
  { copies, outcome, charged = null, teacherLogprobs = null, ...columns }: LossOfTokens,
): Pick<UpdateResult, 'shares' | 'tokens' | 'tokenTrace'> {
  const { actionTokens, actionStep, episodeActionOffsets } = batch;
  const { episodeIds, groupIds } = episodes;
  const { trainedMask, keptMask, advantages = null, importanceWeights = null } = columns;
  const { stepTokens } = outcome;
  return {
    shares: episodeShares(batch, columns, copies),
    tokens: {
      ...{ episodeIds, groupIds, actionTokens, actionStep, episodeActionOffsets },
      ...{ trainedMask, keptMask, advantages, importanceWeights },
    },
    tokenTrace:
      stepTokens &&
      traceTokens({
        columns: episodes,
        batch,
        stepTokens,
        chargedKls: charged?.kls ?? null,
        teacherLogprobs,
      }),
  };
}
