import { Injectable } from '@nestjs/common';
import type { ScoringErrorCode } from '@retrace/scoring';
import { ProblemError, type ProblemCode } from '../problems/problem.js';
import { isoTime } from '../store/store-time.js';
import { StoreService } from '../store/store.service.js';
import type { RewardAuditReport } from './reward-audit.dto.js';
import type { RewardDifferences } from './reward-differences.dto.js';
import type {
  RewardAuditQuery,
  RewardVersionPairParams,
  RewardVersionParams,
  ScoredEpisodesQuery,
} from './reward-params.js';
import type { RewardVersionItem } from './reward-versions.dto.js';

const PROBLEM_OF: Partial<Record<ScoringErrorCode, ProblemCode>> = {
  VERSION_UNKNOWN: 'NOT_FOUND',
  NOTHING_TO_COMPARE: 'NO_EPISODES',
};

/** Asks the reward versions of a run about its episodes. The library that answers is loaded with the first question. */
@Injectable()
export class RewardsService {
  constructor(private readonly store: StoreService) {}

  async list(runId: string): Promise<readonly RewardVersionItem[]> {
    const { listVersions } = await import('@retrace/scoring');
    const versions = await listVersions(this.store.reader, runId);
    return versions.map(({ version, name, namedAt }) => ({ version, name, namedAt: isoTime(namedAt) }));
  }

  /** @throws ProblemError `NOT_FOUND`, `NO_EPISODES` */
  audit(
    { runId, version }: RewardVersionParams,
    { split, limit, stretches: numStretches }: RewardAuditQuery,
  ): Promise<RewardAuditReport> {
    return asProblems(async () => {
      const { auditRewards } = await import('@retrace/scoring');
      return auditRewards({ client: this.store.reader, runId, version, split, limit, numStretches });
    });
  }

  /** @throws ProblemError `NOT_FOUND`, `NO_EPISODES` */
  compare(
    { runId, version: a, otherVersion: b }: RewardVersionPairParams,
    { split, limit }: ScoredEpisodesQuery,
  ): Promise<RewardDifferences> {
    return asProblems(async () => {
      const { diffScores } = await import('@retrace/scoring');
      return diffScores({ client: this.store.reader, runId, a, b, split, limit });
    });
  }
}

async function asProblems<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    const { ScoringError } = await import('@retrace/scoring');
    const code = error instanceof ScoringError ? PROBLEM_OF[error.code] : undefined;
    if (code === undefined) throw error;
    throw new ProblemError(code, (error as Error).message);
  }
}
