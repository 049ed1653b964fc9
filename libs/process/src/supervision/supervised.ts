import { keepHeartbeatFile } from './heartbeat-file.js';

/** The contract between a role's process and its supervisor, over Node's IPC channel. */
export type RoleMessage =
  | { readonly type: 'ready'; readonly url?: string; readonly detail?: string }
  | { readonly type: 'heartbeat' }
  | { readonly type: 'progress'; readonly detail: string; readonly fraction?: number };

const HEARTBEAT_MS = 1000;
const DEFAULT_GRACE_MS = 5000;

export interface Supervised {
  /** Aborted by SIGTERM, SIGINT, or when the supervisor is gone. */
  readonly signal: AbortSignal;
  send(message: RoleMessage): void;
}

export interface SuperviseOptions {
  /** How long the role may take to finish when its supervisor has died (default 5 s). */
  readonly graceMs?: number;
  /** A file whose age tells whether the event loop turns. */
  readonly heartbeatFile?: string;
}

/**
 * Ties this process to its supervisor: heartbeats while the event loop turns, and an abort signal when asked to stop.
 * When the channel closes, the supervisor has died: the role gets `graceMs` to finish and is then ended, so no child outlives its
 * supervisor. Without a channel only the signals count.
 */
export function superviseThisProcess({
  graceMs = DEFAULT_GRACE_MS,
  heartbeatFile,
}: SuperviseOptions = {}): Supervised {
  const controller = new AbortController();
  const stop = () => {
    controller.abort();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  if (heartbeatFile !== undefined) keepHeartbeatFile(heartbeatFile);
  const connected = typeof process.send === 'function';
  const send = (message: RoleMessage) => {
    if (connected && process.connected) process.send?.(message, undefined, {}, () => undefined);
  };
  if (connected) {
    setInterval(() => {
      send({ type: 'heartbeat' });
    }, HEARTBEAT_MS).unref();
    const orphaned = () => {
      stop();
      setTimeout(() => process.exit(1), graceMs).unref();
    };
    process.once('disconnect', orphaned);
    // The supervisor may have died while this process was still loading.
    if (!process.connected) orphaned();
    process.channel?.unref();
  }
  return { signal: controller.signal, send };
}
