import { Injectable } from '@nestjs/common';
import { recipeDifferences } from '@retrace/config';
import type { Json } from '@retrace/trajectory';
import { requestTimeMs } from '../store/asked-moment.js';
import { pageOf, type Page } from '../paging/page.js';
import { ProblemError } from '../problems/problem.js';
import { isoTime, isoTimeOrNull } from '../store/store-time.js';
import { StoreService } from '../store/store.service.js';
import { RecordedFiguresReader } from './recorded-figures.js';
import { RunActivityReader, type RunActivity } from './run-activity.js';
import type { DifferingRecipeField } from './recipe-differences.dto.js';
import { listStatement, RUN_COLUMNS, RUNNING_WITHIN_MS } from './run-list.js';
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
    private readonly recorded: RecordedFiguresReader,
  ) {}

  /** @throws ProblemError `INVALID_REQUEST` */
  async list(asked: RunsQuery): Promise<Page<RunListItem>> {
    const { limit } = asked;
    const nowMs = requestTimeMs();
    const { query, params, keyAfter } = listStatement(asked, nowMs);
    const rows = await this.store.queryRows<RunRow & { readonly sortKey: string | null }>(query, params);
    const listed = rows.slice(0, limit);
    const [activityOf, recorded] = await Promise.all([
      this.activities.read(listed.map(({ runId }) => runId)),
      this.recorded.read(listed.flatMap(({ kind, runId }) => (kind === 'recorded' ? [runId] : []))),
    ]);
    return pageOf(rows, limit, {
      toItem: ({ sortKey: _, ...row }) => ({
        ...toOverview(row, activityOf(row.runId), nowMs),
        recorded: recorded.get(row.runId) ?? null,
      }),
      keyOf: keyAfter,
    });
  }

  /** @throws ProblemError `NOT_FOUND` */
  async get(runId: string): Promise<RunDetail> {
    const [[row], activityOf] = await Promise.all([
      this.store.queryRows<RunDetailRow | undefined>(GET_RUN, { runId }),
      this.activities.read([runId]),
    ]);
    if (!row) throw new ProblemError('NOT_FOUND', `Run ${runId} not found`);
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
    const [row] = await this.store.queryRows<{ recipe: string } | undefined>(GET_RECIPE, { runId });
    if (!row) throw new ProblemError('NOT_FOUND', `Run ${runId} not found`);
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
