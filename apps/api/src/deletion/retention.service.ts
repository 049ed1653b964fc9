import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { EventLog } from '@retrace/log';
import { readExpiredEpisodes } from '@retrace/store';
import { newControlEvent, nowUs } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { ApiConfig } from '../config/api-config.js';
import { InjectEventLog } from '../log/log.module.js';
import { StoreService } from '../store/store.service.js';
import { DeletionService } from './deletion.service.js';
import type { Retention, RetentionRequest } from './retention.dto.js';

const MS_PER_DAY = 86_400_000;
const QUERY_TIMEOUT_MS = 120_000;
const DETAIL = 'the rule for episodes of this run';

/** Keeps the rule of each run for its episodes in the log, as `RetentionApplied` of the run, and deletes what the rules exclude. */
@Injectable()
export class RetentionService implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('retention');
  private timer: NodeJS.Timeout | null = null;
  private applying: Promise<void> | null = null;
  private isClosing = false;

  constructor(
    private readonly config: ApiConfig,
    private readonly store: StoreService,
    private readonly deletions: DeletionService,
    @InjectEventLog() private readonly log: EventLog,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      this.applying ??= this.applyAll()
        .catch((error: unknown) => {
          this.logger.warn(`not applied: ${error instanceof Error ? error.message : String(error)}`);
        })
        .finally(() => {
          this.applying = null;
        });
    }, this.config.retentionIntervalMs).unref();
  }

  async onModuleDestroy(): Promise<void> {
    this.isClosing = true;
    if (this.timer !== null) clearInterval(this.timer);
    await this.applying;
  }

  /** @throws ProblemError `NOT_FOUND` */
  async get(runId: string): Promise<Retention> {
    await this.deletions.requireRun(runId);
    return (await this.rules()).get(runId) ?? { maxAgeDays: null, maxEpisodes: null };
  }

  /** @throws ProblemError `NOT_FOUND`, `RUN_ACTIVE`; LogError */
  async set(runId: string, { maxAgeDays = null, maxEpisodes = null }: RetentionRequest): Promise<Retention> {
    await this.deletions.requireDeletable(runId);
    const event = newControlEvent({
      ...{ kind: 'RetentionApplied' as const, logId: this.log.logId, runId, occurredAtUs: nowUs() },
      payload: { scope: { maxAgeDays, maxEpisodes }, detail: DETAIL },
    });
    await this.log.append('control', 0, [encodeEvent(event)]);
    return { maxAgeDays, maxEpisodes };
  }

  /** Deletes what the rules exclude, run by run; a run that can't be done is reported, and holds up no other. */
  private async applyAll(): Promise<void> {
    if (this.store.current.phase !== 'ready') return;
    for (const [runId, rule] of await this.rules()) {
      if (this.isClosing) return;
      try {
        await this.apply(runId, rule);
      } catch (error) {
        this.logger.warn(`run ${runId}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }

  private async apply(runId: string, { maxAgeDays, maxEpisodes }: Retention): Promise<void> {
    if (maxAgeDays === null && maxEpisodes === null) return;
    const beforeUs = maxAgeDays === null ? null : (Date.now() - maxAgeDays * MS_PER_DAY) * 1000;
    const client = this.store.createClient(QUERY_TIMEOUT_MS);
    try {
      const expired = await readExpiredEpisodes(client, runId, { beforeUs, maxEpisodes });
      const episodeIds = expired.flatMap(({ episodeId, isReferredTo }) => (isReferredTo ? [] : [episodeId]));
      if (episodeIds.length === 0) return;
      await this.deletions.deleteExpired({ runId, episodeIds });
      this.logger.log(`deleted ${episodeIds.length} episodes of run ${runId}`);
    } finally {
      await client.close();
    }
  }

  /** The newest rule of each run that has one. */
  private async rules(): Promise<ReadonlyMap<string, Retention>> {
    const rows = await this.store.queryRows<{ runId: string; payload: string }>(
      `SELECT run_id, argMax(payload, log_offset) AS payload FROM events
       WHERE kind = 'RetentionApplied' AND run_id IN (SELECT run_id FROM runs) AND episode_id = ''
       GROUP BY run_id`,
      {},
    );
    return new Map(rows.map(({ runId, payload }) => [runId, readRule(payload)]));
  }
}

function readRule(payload: string): Retention {
  const { scope } = JSON.parse(payload) as { readonly scope?: Partial<Retention> | null };
  return { maxAgeDays: scope?.maxAgeDays ?? null, maxEpisodes: scope?.maxEpisodes ?? null };
}
