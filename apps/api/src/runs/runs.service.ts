import { Injectable } from '@nestjs/common';
import { recipeDifferences } from '@retrace/config';
import type { Json } from '@retrace/trajectory';
import { requestTimeMs } from '../store/asked-moment.js';
import { pageOf, type Page } from '../paging/page.js';
import { isoTime, isoTimeOrNull } from '../store/store-time.js';
import { readRun } from '../store/read-run.js';
import { StoreService } from '../store/store.service.js';
import { RunActivityReader, type RunActivity } from './run-activity.js';
import type { DifferingRecipeField } from './recipe-differences.dto.js';
import { listStatement, RUN_COLUMNS, RUNNING_WITHIN_MS } from './run-list.js';
import { recordedFigures, RunTotalsReader } from './run-totals-reader.js';
import type { RunsQuery } from './runs-query.dto.js';
import type {
  RunBaseline,
  RunDetail,
  RunListItem,
  RunStatus,
  RunOverview,
  UpdateProgress,
} from './runs.dto.js';

interface RunRow extends Omit<RunOverview, 'status' | 'progress' | keyof RunActivity> {
  readonly endReason: RunStatus | null;
  /** That the recipe asks for; 0 where nothing is trained. */
  readonly numUpdates: number;
}

interface RunDetailRow extends RunRow {
  readonly recipe: string;
  readonly metadata: string | null;
  readonly notes: string;
  readonly baselines: string;
  readonly codeVersion: string;
}

const GET_RUNS = `
  SELECT ${RUN_COLUMNS}
  FROM runs
  WHERE run_id IN {runIds:Array(String)}`;

const GET_RUN = `
  SELECT ${RUN_COLUMNS}, recipe, metadata, notes, baselines, code_version
  FROM runs
  WHERE run_id = {runId:String}`;

const GET_RECIPE = 'SELECT recipe FROM runs WHERE run_id = {runId:String}';

@Injectable()
export class RunsService {
  constructor(
    private readonly store: StoreService,
    private readonly activities: RunActivityReader,
    private readonly totals: RunTotalsReader,
  ) {}

  /** @throws ProblemError `INVALID_REQUEST` */
  async list(asked: RunsQuery): Promise<Page<RunListItem>> {
    const { limit } = asked;
    const nowMs = requestTimeMs();
    const { query, params, keyAfter } = listStatement(asked, nowMs);
    const found = await this.store.queryRows<{ readonly runId: string; readonly sortKey: string | null }>(
      query,
      params,
    );
    const { items, nextCursor } = pageOf(found, limit, { toItem: ({ runId }) => runId, keyOf: keyAfter });
    return { items: await this.readListed(items, nowMs), nextCursor };
  }

  /** The runs in this order; without those that were deleted since their ids were read. */
  private async readListed(runIds: readonly string[], nowMs: number): Promise<RunListItem[]> {
    if (runIds.length === 0) return [];
    const [rows, activityOf] = await Promise.all([
      this.store.queryRows<RunRow>(GET_RUNS, { runIds }),
      this.activities.read(runIds),
    ]);
    const recorded = rows.filter(({ kind }) => kind === 'recorded');
    const totalsOf = await this.totals.read(recorded.map(({ runId }) => runId));
    const rowOf = new Map(rows.map((row) => [row.runId, row]));
    return runIds.flatMap((runId) => {
      const row = rowOf.get(runId);
      if (row === undefined) return [];
      const figures = row.kind === 'recorded' ? recordedFigures(totalsOf(runId)) : null;
      return [{ ...toOverview(row, activityOf(runId), nowMs), recorded: figures }];
    });
  }

  /** @throws ProblemError `NOT_FOUND` */
  async get(runId: string): Promise<RunDetail> {
    const [row, activityOf] = await Promise.all([
      readRun<RunDetailRow>(this.store, GET_RUN, runId),
      this.activities.read([runId]),
    ]);
    const { recipe, metadata, notes, baselines, codeVersion, ...run } = row;
    return {
      ...toOverview(run, activityOf(runId), requestTimeMs()),
      recipe: JSON.parse(recipe) as Json,
      baselines: JSON.parse(baselines) as RunBaseline[],
      codeVersion,
      notes,
      metadata: metadata === null ? null : (JSON.parse(metadata) as Json),
    };
  }

  /** Compares the recipes of two runs. A recorded run has none, so all fields of the other differ. @throws ProblemError `NOT_FOUND` */
  async compareRecipes(runId: string, otherRunId: string): Promise<DifferingRecipeField[]> {
    const [first, second] = await Promise.all([runId, otherRunId].map((id) => this.recipeOf(id)));
    return recipeDifferences(first, second).map((difference) => ({
      field: difference.field,
      first: (difference.first ?? null) as Json,
      second: (difference.second ?? null) as Json,
    }));
  }

  private async recipeOf(runId: string): Promise<Record<string, unknown>> {
    const row = await readRun<{ recipe: string }>(this.store, GET_RECIPE, runId);
    return (JSON.parse(row.recipe) as Record<string, unknown> | null) ?? {};
  }
}

function toOverview(
  { endReason, numUpdates, ...run }: RunRow,
  { updates, ...activity }: RunActivity,
  nowMs: number,
): RunOverview {
  const status = endReason ?? statusOf(activity.lastActivityAt ?? isoTime(run.startedAt), nowMs);
  return {
    ...run,
    progress: numUpdates === 0 ? null : progressOf(updates, numUpdates, status === 'running'),
    status,
    startedAt: isoTime(run.startedAt),
    endedAt: isoTimeOrNull(run.endedAt),
    ...activity,
  };
}

function progressOf(
  { updateNumber, medianS }: RunActivity['updates'],
  numUpdates: number,
  isRunning: boolean,
): UpdateProgress {
  const numLeft = Math.max(numUpdates - updateNumber, 0);
  return { updateNumber, numUpdates, secondsLeft: isRunning && medianS !== null ? medianS * numLeft : null };
}

function statusOf(lastActivityAt: string, nowMs: number): RunStatus {
  return nowMs - Date.parse(lastActivityAt) < RUNNING_WITHIN_MS ? 'running' : 'idle';
}
