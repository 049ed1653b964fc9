import { useQuery } from '@tanstack/react-query';
import { api, awaitData } from '../api/client';
import { keys, unlessRefused } from '../api/queries';
import type { RewardAuditReport, RewardDifferences, RewardVersionItem } from '../api-types/schema';
import type { ScoredSplit } from './rewards-view';

/** Scores are computed by a command, so new ones are looked for now and then. */
const POLL_MS = 10_000;

/** The reward versions that a run was scored with, the newest name first. */
export function useRewardVersions(runId: string) {
  return useQuery({
    queryKey: keys.rewardVersions(runId),
    queryFn: async ({ signal }) => {
      const params = { path: { runId } };
      return (await awaitData(api.GET('/api/runs/{runId}/reward-versions', { params, signal }))).versions;
    },
    refetchInterval: unlessRefused(POLL_MS),
  });
}

/** Asked once and not again where it failed: an answer may take a minute. */
const ASKED_ONCE = { retry: false, staleTime: Number.POSITIVE_INFINITY };

/** An answer, and how many episodes had a score when it was asked for: with more it can be asked for again. */
interface AnswerOfScores<Answer> {
  readonly answer: Answer;
  readonly numScored: number;
}

interface RewardQuestion {
  readonly runId: string;
  readonly version: RewardVersionItem;
  readonly split: ScoredSplit;
}

/** A reward version compared with the success of the episodes. */
export function useRewardAudit({ runId, version: { version, numScored }, split }: RewardQuestion) {
  return useQuery({
    ...ASKED_ONCE,
    queryKey: [...keys.rewardAnswers(runId), 'audit', version, split],
    queryFn: async ({ signal }): Promise<AnswerOfScores<RewardAuditReport>> => {
      const params = { path: { runId, version }, query: { split } };
      const path = '/api/runs/{runId}/reward-versions/{version}/audit';
      return { answer: await awaitData(api.GET(path, { params, signal })), numScored };
    },
  });
}

/** Two reward versions over the episodes that both have scored. */
export function useRewardDifferences({
  runId,
  version: { version, numScored },
  other,
  split,
}: RewardQuestion & { readonly other: RewardVersionItem }) {
  const { version: otherVersion } = other;
  return useQuery({
    ...ASKED_ONCE,
    queryKey: [...keys.rewardAnswers(runId), 'differences', version, otherVersion, split],
    queryFn: async ({ signal }): Promise<AnswerOfScores<RewardDifferences>> => {
      const params = { path: { runId, version, otherVersion }, query: { split } };
      const path = '/api/runs/{runId}/reward-versions/{version}/differences/{otherVersion}';
      const answer = await awaitData(api.GET(path, { params, signal }));
      return { answer, numScored: numScored + other.numScored };
    },
  });
}
