import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useState } from 'react';
import { keys, MAX_CHART_POINTS } from '../api/queries';
import type { MetricSeries, RunDetail } from '../api/types';
import { pointsOf, type MetricsMessage, type PolicyMessage } from './live-messages';
import { mergeMetricPoints, type MetricPoint } from './merge-metrics';

/** `live`: events arrive as they happen; `polling`: the stream is down and pages ask every few seconds. */
export type LiveState = 'connecting' | 'live' | 'polling';

const FLUSH_MS = 400;
const POLL_MS = 3_000;
const LIVE_REFETCH_MS = 30_000;
/** Two heartbeats of the server: a stream that is silent for longer is dead, whatever the socket says. */
const SILENCE_MS = 35_000;
const RECONNECT_MS = 3_000;

const LiveContext = createContext<LiveState>('polling');
export const LiveProvider = LiveContext.Provider;

/** Interval at which queries of this run refetch: rarely while the live stream keeps them fresh. */
export function useRefetchMs(): number {
  return useContext(LiveContext) === 'live' ? LIVE_REFETCH_MS : POLL_MS;
}

/**
 * Follows a run: metric points are merged into the cached series, anything else makes the queries
 * that it concerns stale. Reconnects for ever; while the stream is down the queries poll.
 */
export function useLiveRun(runId: string): LiveState {
  const queryClient = useQueryClient();
  const [state, setState] = useState<LiveState>('connecting');

  useEffect(() => {
    const changes = new ChangeBuffer(queryClient, runId);
    const stream = new LiveStream(`/api/runs/${encodeURIComponent(runId)}/live`, changes, setState);
    return () => {
      stream.close();
      changes.close();
    };
  }, [queryClient, runId]);

  return state;
}

/**
 * One EventSource, opened anew when it fails or falls silent, and closed while nobody looks: a browser has few connections
 * to one server, and tabs in the background would hold them all.
 */
class LiveStream {
  private source: EventSource | null = null;
  private silence: ReturnType<typeof setTimeout> | undefined;
  private reconnect: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly url: string,
    private readonly changes: ChangeBuffer,
    private readonly onState: (state: LiveState) => void,
  ) {
    document.addEventListener('visibilitychange', this.onVisibility);
    if (!document.hidden) this.open();
  }

  close(): void {
    document.removeEventListener('visibilitychange', this.onVisibility);
    this.disconnect();
  }

  private readonly onVisibility = (): void => {
    this.disconnect();
    if (document.hidden) return;
    this.open();
    this.changes.touch('reset');
  };

  private disconnect(): void {
    clearTimeout(this.silence);
    clearTimeout(this.reconnect);
    this.source?.close();
  }

  private open(): void {
    const source = new EventSource(this.url);
    this.source = source;
    source.addEventListener('open', () => {
      this.onState('live');
      this.heard();
    });
    source.addEventListener('error', () => {
      this.onState('polling');
      if (source.readyState === EventSource.CLOSED) this.openLater();
    });
    source.addEventListener('heartbeat', () => this.heard());
    source.addEventListener('metrics', (event) => {
      this.heard();
      this.changes.addPoints(pointsOf(JSON.parse(event.data as string) as MetricsMessage));
    });
    source.addEventListener('policy', (event) => {
      this.heard();
      this.changes.setPolicyVersion((JSON.parse(event.data as string) as PolicyMessage).policyVersion);
    });
    for (const kind of ['update', 'run', 'reset'] as const) {
      source.addEventListener(kind, () => {
        this.heard();
        this.changes.touch(kind);
      });
    }
    this.heard();
  }

  private heard(): void {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => {
      this.onState('polling');
      this.openLater();
    }, SILENCE_MS);
  }

  private openLater(): void {
    this.disconnect();
    this.reconnect = setTimeout(() => this.open(), RECONNECT_MS);
  }
}

/** Gathers what arrived and hands it to the query cache a few times a second, so that bursts render once. */
class ChangeBuffer {
  private points: MetricPoint[] = [];
  private policyVersion: number | null = null;
  private readonly touched = new Set<'update' | 'run' | 'reset'>();
  private flushing: ReturnType<typeof setTimeout> | undefined;

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

  touch(kind: 'update' | 'run' | 'reset'): void {
    this.touched.add(kind);
    this.flushSoon();
  }

  close(): void {
    clearTimeout(this.flushing);
  }

  private flushSoon(): void {
    this.flushing ??= setTimeout(() => {
      this.flushing = undefined;
      this.flush();
    }, FLUSH_MS);
  }

  private flush(): void {
    const { points, policyVersion } = this;
    const touched = new Set(this.touched);
    this.points = [];
    this.policyVersion = null;
    this.touched.clear();

    if (points.length > 0) this.mergePoints(points);
    if (points.length > 0 || policyVersion !== null) this.patchRun(policyVersion);
    if (points.some(({ source }) => source === 'collector')) this.refetch(keys.episodes(this.runId));
    if (touched.has('update')) this.refetch(keys.updates(this.runId));
    if (touched.has('run')) this.refetch(keys.run(this.runId), { exact: true });
    if (touched.has('reset')) this.refetch(keys.run(this.runId));
  }

  private mergePoints(points: readonly MetricPoint[]): void {
    const key = keys.metrics(this.runId);
    const series = this.queryClient.setQueryData<readonly MetricSeries[]>(
      key,
      (before) => before && mergeMetricPoints(before, points),
    );
    if (series?.some(({ steps }) => steps.length > 2 * MAX_CHART_POINTS)) this.refetch(key);
  }

  /** Keeps the head of the page fresh without asking the store again for every update. */
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

  private refetch(queryKey: readonly unknown[], options: { readonly exact?: boolean } = {}): void {
    void this.queryClient.invalidateQueries({ queryKey, exact: options.exact ?? false });
  }
}
