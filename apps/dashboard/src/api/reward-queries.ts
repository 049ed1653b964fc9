import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from './client';
import { keys, unlessRefused } from './queries';
import type { ScoredSplit } from '../rewards/rewards-view';

/** Scores are computed by a command, so new ones are looked for now and then. */
const POLL_MS = 10_000;

/** The reward versions that a run has scores of, named last first. */
export function useRewardVersions(runId: string) {
  return useQuery({
    queryKey: keys.rewardVersions(runId),
    queryFn: async ({ signal }) => {
      const params = { path: { runId } };
      return (await dataOf(api.GET('/api/runs/{runId}/reward-versions', { params, signal }))).versions;
    },
    refetchInterval: unlessRefused(POLL_MS),
  });
}

interface AuditQuestion {
  readonly runId: string;
  readonly version: string;
  /** null = all. */
  readonly split: ScoredSplit | null;
}

/** A reward version held against the success of the episodes. */
export function useRewardAudit({ runId, version, split }: AuditQuestion) {
  return useQuery({
    queryKey: [...keys.rewardVersions(runId), version, 'audit', split],
    queryFn: ({ signal }) => {
      const params = { path: { runId, version }, query: { split: split ?? undefined } };
      return dataOf(api.GET('/api/runs/{runId}/reward-versions/{version}/audit', { params, signal }));
    },
  });
}

/** Two reward versions over the episodes that both have scored. */
export function useRewardDifferences({
  runId,
  version,
  otherVersion,
  split,
}: AuditQuestion & { readonly otherVersion: string }) {
  return useQuery({
    queryKey: [...keys.rewardVersions(runId), version, 'differences', otherVersion, split],
    queryFn: ({ signal }) => {
      const params = { path: { runId, version, otherVersion }, query: { split: split ?? undefined } };
      return dataOf(
        api.GET('/api/runs/{runId}/reward-versions/{version}/differences/{otherVersion}', { params, signal }),
      );
    },
  });
}
