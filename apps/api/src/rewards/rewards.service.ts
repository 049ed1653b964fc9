import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { RewardErrorCode } from '@retrace/rewards';
import type { StatementOptions, StoreClient, StoreReader } from '@retrace/store';
import { requestSettings } from '../store/asked-moment.js';
import { ProblemError, type ProblemCode } from '../problems/problem.js';
import { isoTime } from '../store/store-time.js';
import { StoreService } from '../store/store.service.js';
import type { RewardAuditReport } from './reward-audit.dto.js';
import type { RewardDifferences } from './reward-differences.dto.js';
import type {
  RewardAuditQuery,
  RewardDifferencesQuery,
  RewardVersionPairParams,
  RewardVersionParams,
} from './reward-params.js';
import type { RewardVersionItem } from './reward-versions.dto.js';

const PROBLEM_OF: Partial<Record<RewardErrorCode, ProblemCode>> = {
  VERSION_UNKNOWN: 'NOT_FOUND',
  VERSION_AMBIGUOUS: 'ID_AMBIGUOUS',
  NOTHING_TO_COMPARE: 'NO_EPISODES',
};

/** A question reads all scores of a run. */
const QUESTION_TIMEOUT_MS = 120_000;
/** Leaves the other processors to training, and the memory of a small machine to the rest of the store. */
const LIMITS: StatementOptions['settings'] = {
  max_threads: 1,
  max_memory_usage: `${1024 ** 3}`,
};
/** Ranks of more pairs are computed in the store: ranking them here would hold up what else the API answers. */
const MAX_PAIRS_IN_MEMORY = 16_384;

/** Audits and compares reward versions. The library that does it is loaded with the first question. */
@Injectable()
export class RewardsService implements OnApplicationShutdown {
  private readonly client: StoreClient;

  constructor(private readonly store: StoreService) {
    this.client = store.createClient(QUESTION_TIMEOUT_MS);
  }

  async list(runId: string, signal: AbortSignal): Promise<readonly RewardVersionItem[]> {
    const { listVersions } = await import('@retrace/rewards/scoring');
    const reader = this.reader(signal);
    const versions = await listVersions(reader, runId);
    const counts = await reader.queryRows<{ version: string; numScored: number }>(
      'SELECT reward_version AS version, count() AS numScored FROM scores WHERE run_id = {runId:String} GROUP BY version',
      { params: { runId } },
    );
    const numScored = new Map(counts.map((row) => [row.version, row.numScored]));
    return versions.map(({ version, name, namedAt }) => ({
      ...{ version, name },
      namedAt: isoTime(namedAt),
      numScored: numScored.get(version) ?? 0,
    }));
  }

  /** @throws ProblemError `NOT_FOUND`, `ID_AMBIGUOUS`, `NO_EPISODES` */
  audit(
    { runId, version }: RewardVersionParams,
    { split, limit, stretches: numStretches }: RewardAuditQuery,
    signal: AbortSignal,
  ): Promise<RewardAuditReport> {
    return asProblems(async () => {
      const { auditRewards } = await import('@retrace/rewards/scoring');
      const episodes = { split: split === 'all' ? null : split, limit, numStretches };
      return auditRewards({ client: this.reader(signal), runId, version, ...episodes });
    });
  }

  /** @throws ProblemError `NOT_FOUND`, `ID_AMBIGUOUS`, `NO_EPISODES` */
  compare(
    { runId, version: a, otherVersion: b }: RewardVersionPairParams,
    { split, limit }: RewardDifferencesQuery,
    signal: AbortSignal,
  ): Promise<RewardDifferences> {
    return asProblems(async () => {
      const { diffScores } = await import('@retrace/rewards/scoring');
      const episodes = {
        split: split === 'all' ? null : split,
        limit,
        maxPairsInMemory: MAX_PAIRS_IN_MEMORY,
      };
      return diffScores({ client: this.reader(signal), runId, a, b, ...episodes });
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.client.close();
  }

  /** Reads within limits, and no more once the request was broken off. */
  private reader(signal: AbortSignal): StoreReader {
    this.store.requireReady();
    return {
      queryRows: (sql, { settings, ...options } = {}) =>
        this.client.queryRows(sql, {
          ...options,
          settings: { ...settings, ...LIMITS, ...requestSettings() },
          signal,
        }),
    };
  }
}

async function asProblems<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    const { RewardError } = await import('@retrace/rewards');
    const code = error instanceof RewardError ? PROBLEM_OF[error.code] : undefined;
    if (code === undefined) throw error;
    throw new ProblemError(code, (error as Error).message);
  }
}
