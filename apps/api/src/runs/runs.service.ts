import { Injectable } from '@nestjs/common';
import { recipeDifferences } from '@retrace/config';
import type { Json } from '@retrace/trajectory';
import { requestTimeMs } from '../store/asked-moment.js';
import { makePage, type Page } from '../paging/page.js';
import { runNotFound } from '../store/read-run.js';
import { isoTime, isoTimeOrNull } from '../store/store-time.js';
import { RunActivityReader, type RunActivity } from './run-activity.js';
import type { DifferingRecipeField } from './recipe-differences.dto.js';
import { RunFactsReader, type RunFacts } from './run-facts.js';
import { findListed } from './run-list.js';
import { recordedFigures, RunTotalsReader } from './run-totals-reader.js';
import type { RunsQuery } from './runs-query.dto.js';
import type {
  RunBaseline,
  RunDetail,
  RunListItem,
  RunOverview,
  RunStatus,
  UpdateProgress,
} from './runs.dto.js';

/** A run that has not ended is `running` while its newest control event is younger than this, then `idle`. */
const RUNNING_WITHIN_MS = 30_000;

@Injectable()
export class RunsService {
  constructor(
    private readonly runs: RunFactsReader,
    private readonly activities: RunActivityReader,
    private readonly totals: RunTotalsReader,
  ) {}

  /** @throws ProblemError `INVALID_REQUEST` */
  async list(asked: RunsQuery): Promise<Page<RunListItem>> {
    const nowMs = requestTimeMs();
    const { limit, status, metric } = asked;
    const [lastOf, newestOf] = await Promise.all([
      status === undefined ? NO_TIMES : this.activities.lastActivityTimes(),
      metric === undefined ? NO_VALUES : this.activities.newestValues(metric),
    ]);
    const origins = asked.seedsOf !== undefined || asked.startedFrom !== undefined;
    const factsOf = await this.runs.all({ origins });
    const statusOf = (run: RunFacts) => statusOfRun(run, lastOf.get(run.runId), nowMs);
    const { runs, keyAfter } = findListed(asked, { factsOf, statusOf, newestOf });
    const { items, nextCursor } = makePage(runs, limit, { toItem: ({ run }) => run, keyOf: keyAfter });
    return { items: await this.readListed(items, nowMs), nextCursor };
  }

  private async readListed(runs: readonly RunFacts[], nowMs: number): Promise<RunListItem[]> {
    const recorded = runs.filter(({ kind }) => kind === 'recorded');
    const [activityOf, totalsOf] = await Promise.all([
      this.activities.read(runs.map(({ runId }) => runId)),
      this.totals.read(recorded.map(({ runId }) => runId)),
    ]);
    return runs.map((run) => ({
      ...toOverview(run, activityOf(run.runId), nowMs),
      recorded: run.kind === 'recorded' ? recordedFigures(totalsOf(run.runId)) : null,
    }));
  }

  /** @throws ProblemError `NOT_FOUND` */
  async get(runId: string): Promise<RunDetail> {
    const [run, detail, activityOf] = await Promise.all([
      this.runs.of([runId]).then((factsOf) => factsOf.get(runId)),
      this.runs.detailsOf(runId),
      this.activities.read([runId]),
    ]);
    if (run === undefined || detail === undefined) throw runNotFound(runId);
    const { recipe, metadata, notes, baselines, codeVersion } = detail;
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
    const detail = await this.runs.detailsOf(runId);
    if (detail === undefined) throw runNotFound(runId);
    return (JSON.parse(detail.recipe) as Record<string, unknown> | null) ?? {};
  }
}

const NO_TIMES: ReadonlyMap<string, string> = new Map();
const NO_VALUES: ReadonlyMap<string, number> = new Map();

function toOverview(run: RunFacts, { updates, ...activity }: RunActivity, nowMs: number): RunOverview {
  const { endReason: _, numUpdates, seedsKey: __, startedFrom: ___, ...shown } = run;
  const status = statusOfRun(run, activity.lastActivityAt ?? undefined, nowMs);
  return {
    ...shown,
    progress: numUpdates === 0 ? null : toProgress(updates, numUpdates, status === 'running'),
    status,
    startedAt: isoTime(run.startedAt),
    endedAt: isoTimeOrNull(run.endedAt),
    ...activity,
  };
}

function toProgress(
  { updateNumber, medianS }: RunActivity['updates'],
  numUpdates: number,
  isRunning: boolean,
): UpdateProgress {
  const numLeft = Math.max(numUpdates - updateNumber, 0);
  return { updateNumber, numUpdates, secondsLeft: isRunning && medianS !== null ? medianS * numLeft : null };
}

/** @param lastActivityAt ISO 8601; the start counts where it is missing */
function statusOfRun(run: RunFacts, lastActivityAt = isoTime(run.startedAt), nowMs: number): RunStatus {
  if (run.endReason !== null) return run.endReason;
  return nowMs - Date.parse(lastActivityAt) < RUNNING_WITHIN_MS ? 'running' : 'idle';
}
