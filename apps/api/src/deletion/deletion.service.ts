import { Injectable } from '@nestjs/common';
import type { EventLog } from '@retrace/log';
import { deleteEpisodes, StoreError, untilVisible } from '@retrace/store';
import { InjectEventLog } from '../log/log.module.js';
import { ProblemError } from '../problems/problem.js';
import { RunTotalsReader } from '../runs/run-totals-reader.js';
import { readRun } from '../store/read-run.js';
import { StoreService } from '../store/store.service.js';
import type { DeletionResult } from './deletion.dto.js';

/** Rewriting the parts of a large store takes minutes. */
const REQUEST_TIMEOUT_MS = 600_000;

interface Deletion {
  readonly runId: string;
  readonly force: boolean;
}

/** Deletes episodes, one deletion after the other. */
@Injectable()
export class DeletionService {
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: StoreService,
    private readonly totals: RunTotalsReader,
    @InjectEventLog() private readonly log: EventLog,
  ) {}

  /** @throws ProblemError `NOT_FOUND`, `RUN_ACTIVE`, `EPISODES_REFERRED_TO` */
  async deleteEpisode({
    episodeId,
    ...deletion
  }: Deletion & { readonly episodeId: string }): Promise<DeletionResult> {
    await this.requireDeletable(deletion.runId);
    const { runId } = deletion;
    const [row] = await this.store.queryRows<{ n: number }>(
      'SELECT count() AS n FROM events WHERE run_id = {runId:String} AND episode_id = {episodeId:String}',
      { runId, episodeId },
    );
    if (row.n === 0) throw new ProblemError('NOT_FOUND', `Episode ${episodeId} of run ${runId} not found`);
    return this.delete(deletion, [episodeId]);
  }

  /** @throws as `deleteEpisode`; no episode with the tag is no error */
  async deleteTagged({ tag, ...deletion }: Deletion & { readonly tag: string }): Promise<DeletionResult> {
    const { runId } = deletion;
    await this.requireDeletable(runId);
    const rows = await this.store.queryRows<{ episodeId: string }>(
      'SELECT episode_id FROM episodes WHERE run_id = {runId:String} AND has(tags, {tag:String})',
      { runId, tag },
    );
    if (rows.length === 0) return { numEpisodes: 0, numRows: 0, numReleased: 0 };
    return this.delete(
      deletion,
      rows.map(({ episodeId }) => episodeId),
    );
  }

  /** Deletes episodes that the retention of their run excludes. @throws as `deleteEpisode` */
  deleteExpired(
    request: Pick<Deletion, 'runId'> & { readonly episodeIds: readonly string[] },
  ): Promise<DeletionResult> {
    return this.delete({ ...request, force: false }, request.episodeIds, 'by the retention of the run');
  }

  /** @throws ProblemError `NOT_FOUND` */
  requireRun(runId: string): Promise<{ readonly kind: string; readonly endedAt: string | null }> {
    return readRun(this.store, 'SELECT kind, ended_at FROM runs WHERE run_id = {runId:String}', runId);
  }

  /** @throws ProblemError `NOT_FOUND`, `RUN_ACTIVE` for a run that trains */
  async requireDeletable(runId: string): Promise<void> {
    const run = await this.requireRun(runId);
    if (run.kind === 'recorded' || run.endedAt !== null) return;
    throw new ProblemError(
      'RUN_ACTIVE',
      `Run ${runId} trains; its episodes can be deleted once it has ended`,
    );
  }

  private delete(
    { runId, force }: Deletion,
    episodeIds: readonly string[],
    detail = 'by request',
  ): Promise<DeletionResult> {
    const result = this.last.then(() => this.deleteNow({ runId, force, episodeIds, detail }));
    this.last = result.catch(() => undefined);
    return result;
  }

  private async deleteNow(
    request: Deletion & { readonly episodeIds: readonly string[]; readonly detail: string },
  ): Promise<DeletionResult> {
    const client = this.store.createClient(REQUEST_TIMEOUT_MS);
    const { log } = this;
    try {
      const bringUpToDate = () => untilVisible(log, client);
      const report = await deleteEpisodes({ ...request, log, client, bringUpToDate });
      const { numEpisodes, numRows, numReleased } = report;
      return { numEpisodes, numRows, numReleased };
    } catch (error) {
      if (error instanceof StoreError && error.code === 'EPISODES_REFERRED_TO')
        throw new ProblemError('EPISODES_REFERRED_TO', error.message);
      throw error;
    } finally {
      this.totals.forget(request.runId);
      await client.close();
    }
  }
}
