import type { QueryClient } from '@tanstack/react-query';
import { keys, MAX_CHART_POINTS } from '../api/queries';
import type { MetricSeries, RunDetail } from '../api-types/schema';
import { mergeMetricPoints, type MetricPoint } from './merge-metrics';

const FLUSH_MS = 400;
/** The stream reads the log; the store has the same a moment later, longer where the machine is busy. */
const STORED_AFTER_MS = [0, 1_000, 3_000, 8_000];

/** Data of a run that changed and has to be fetched again; `reset` means all of it. */
type StaleData = 'update' | 'run' | 'warning' | 'reset';

interface RefetchOptions {
  /** Only the query with this key, and not those below it. */
  readonly exact?: boolean;
}

/** Collects changes of a run and applies them to the query cache every 400 ms, so that a burst renders once. */
export class ChangeBuffer {
  private points: MetricPoint[] = [];
  private policyVersion: number | null = null;
  private readonly stale = new Set<StaleData>();
  private flushTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly storedTimers = new Set<ReturnType<typeof setTimeout>>();

  constructor(
    private readonly queryClient: QueryClient,
    private readonly runId: string,
  ) {}

  addPoints(points: readonly MetricPoint[]): void {
    this.points.push(...points);
    this.flushSoon();
  }

  setPolicyVersion(policyVersion: number): void {
    this.policyVersion = policyVersion;
    this.flushSoon();
  }

  markStale(data: StaleData): void {
    this.stale.add(data);
    this.flushSoon();
  }

  close(): void {
    clearTimeout(this.flushTimer);
    for (const timer of this.storedTimers) clearTimeout(timer);
  }

  private flushSoon(): void {
    this.flushTimer ??= setTimeout(() => {
      this.flushTimer = undefined;
      this.flush();
    }, FLUSH_MS);
  }

  private flush(): void {
    const { points, policyVersion } = this;
    const stale = new Set(this.stale);
    this.points = [];
    this.policyVersion = null;
    this.stale.clear();

    if (points.length > 0) this.mergePoints(points);
    if (points.length > 0 || policyVersion !== null) this.patchRun(policyVersion);
    if (points.some(({ source }) => source === 'collector')) this.refetch(keys.episodes(this.runId));
    if (points.some(({ source }) => source === 'evaluation'))
      this.refetchOnceStored(keys.validations(this.runId));
    if (stale.has('update')) this.refetch(keys.updates(this.runId));
    if (stale.has('warning')) this.refetch(keys.warnings(this.runId));
    if (stale.has('run')) this.refetchOnceStored(keys.run(this.runId), { exact: true });
    if (stale.has('reset')) this.refetch(keys.run(this.runId));
  }

  /** Fetches a series again once it has twice the points that a chart asks for; the API then thins it out. */
  private mergePoints(points: readonly MetricPoint[]): void {
    const key = keys.metrics(this.runId);
    const series = this.queryClient.setQueryData<readonly MetricSeries[]>(
      key,
      (before) => before && mergeMetricPoints(before, points),
    );
    if (series?.some(({ steps }) => steps.length > 2 * MAX_CHART_POINTS)) this.refetch(key);
  }

  /** Updates the header of the page without a request. A run that logs is no longer idle. */
  private patchRun(policyVersion: number | null): void {
    this.queryClient.setQueryData<RunDetail>(
      keys.run(this.runId),
      (run) =>
        run && {
          ...run,
          status: run.status === 'idle' ? 'running' : run.status,
          policyVersion: policyVersion ?? run.policyVersion,
        },
    );
  }

  private refetchOnceStored(queryKey: readonly unknown[], options: RefetchOptions = {}): void {
    for (const delayMs of STORED_AFTER_MS) {
      const timer = setTimeout(() => {
        this.storedTimers.delete(timer);
        this.refetch(queryKey, options);
      }, delayMs);
      this.storedTimers.add(timer);
    }
  }

  private refetch(queryKey: readonly unknown[], options: RefetchOptions = {}): void {
    void this.queryClient.invalidateQueries({ queryKey, exact: options.exact ?? false });
  }
}
