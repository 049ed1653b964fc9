import type { LiveMetrics, LivePolicy } from '../api-types/schema';
import type { ChangeBuffer } from './change-buffer';
import { toMetricPoints } from './live-messages';

/** `live`: events arrive as they happen. `polling`: the stream is down, and pages fetch every few seconds. */
export type LiveState = 'connecting' | 'live' | 'polling';

/** Two heartbeats of the server and a margin: a longer silence means that the connection is dead, even if it looks open. */
const MAX_SILENCE_MS = 35_000;
const RECONNECT_MS = 3_000;

/**
 * The server-sent events of one run. Reconnects when the connection fails or falls silent, and disconnects while the tab is in the
 * background: a browser allows few connections to one server, and hidden tabs would hold them all.
 */
export class LiveStream {
  private source: EventSource | null = null;
  private silenceTimer: ReturnType<typeof setTimeout> | undefined;
  private reconnectTimer: ReturnType<typeof setTimeout> | undefined;

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
    this.changes.markStale('reset');
  };

  private disconnect(): void {
    clearTimeout(this.silenceTimer);
    clearTimeout(this.reconnectTimer);
    this.source?.close();
  }

  private open(): void {
    const source = new EventSource(this.url);
    this.source = source;
    source.addEventListener('open', () => {
      this.onState('live');
      this.restartSilenceTimer();
    });
    source.addEventListener('error', () => {
      this.onState('polling');
      if (source.readyState === EventSource.CLOSED) this.reconnectLater();
    });
    source.addEventListener('heartbeat', () => this.restartSilenceTimer());
    source.addEventListener('metrics', (event) => {
      this.restartSilenceTimer();
      this.changes.addPoints(toMetricPoints(JSON.parse(event.data as string) as LiveMetrics));
    });
    source.addEventListener('policy', (event) => {
      this.restartSilenceTimer();
      this.changes.setPolicyVersion((JSON.parse(event.data as string) as LivePolicy).policyVersion);
    });
    for (const kind of ['update', 'run', 'warning', 'reset'] as const) {
      source.addEventListener(kind, () => {
        this.restartSilenceTimer();
        this.changes.markStale(kind);
      });
    }
    this.restartSilenceTimer();
  }

  private restartSilenceTimer(): void {
    clearTimeout(this.silenceTimer);
    this.silenceTimer = setTimeout(() => {
      this.onState('polling');
      this.reconnectLater();
    }, MAX_SILENCE_MS);
  }

  private reconnectLater(): void {
    this.disconnect();
    this.reconnectTimer = setTimeout(() => this.open(), RECONNECT_MS);
  }
}
