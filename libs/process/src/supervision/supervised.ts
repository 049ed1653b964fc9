import { keepHeartbeatFile } from './heartbeat-file.js';
import type { RunControlAnswer, RunControlRequest, SupervisorMessage } from './run-control.js';

/** A message from a role's process to its supervisor, over Node's IPC channel. */
export type RoleMessage =
  | { readonly type: 'ready'; readonly url?: string; readonly detail?: string }
  /** It listens, and answers what needs nothing that it still waits for. */
  | { readonly type: 'listening'; readonly url: string }
  | { readonly type: 'heartbeat' }
  /** A warning that is in the log, or on its way there; the supervisor shows it. */
  | { readonly type: 'warning'; readonly severity: 'warning' | 'alarm'; readonly message: string }
  | { readonly type: 'progress'; readonly detail: string; readonly fraction?: number }
  /** Answered by a `SupervisorMessage` with the same id. */
  | { readonly type: 'request'; readonly id: number; readonly request: RunControlRequest };

const HEARTBEAT_MS = 1000;
const DEFAULT_GRACE_MS = 5000;
/** A supervisor answers at once; it may be about to end. */
const ANSWER_MS = 10_000;

export interface Supervised {
  /** Aborted by SIGTERM, SIGINT, or when the supervisor is gone. */
  readonly signal: AbortSignal;
  /** Whether a supervisor shows and records what this process prints. */
  readonly isSupervised: boolean;
  send(message: RoleMessage): void;
  /** Asks the supervisor about the runs that it trains. One that can't answer is `UNAVAILABLE`. */
  readonly ask: (request: RunControlRequest) => Promise<RunControlAnswer>;
  /** Shows a warning to the user: through the supervisor, or on stderr in a process without one. */
  readonly warn: (message: string, severity: 'warning' | 'alarm') => void;
}

export interface SuperviseOptions {
  /** Time in which the process must finish after its supervisor has died (default 5,000). */
  readonly graceMs?: number;
  /** A file that is written every second while the event loop runs. */
  readonly heartbeatFile?: string;
}

/**
 * Connects this process to its supervisor: sends heartbeats while the event loop runs, and aborts `signal` when asked to stop. If the
 * supervisor dies, which closes the channel, this process gets `graceMs` to finish and then exits. A process without a channel obeys
 * SIGTERM and SIGINT only.
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
  }
  const ask = connected ? asking(send) : () => Promise.resolve(UNAVAILABLE);
  if (connected) process.channel?.unref();
  const warn: Supervised['warn'] = (message, severity) => {
    if (connected) send({ type: 'warning', severity, message });
    else process.stderr.write(`${severity === 'alarm' ? 'error' : 'warn'} ${message}\n`);
  };
  return { signal: controller.signal, isSupervised: connected, send, ask, warn };
}

const UNAVAILABLE: RunControlAnswer = {
  ok: false,
  code: 'UNAVAILABLE',
  message: 'no supervisor answers this process, so that it can start and stop no runs',
};

const UNANSWERED: RunControlAnswer = {
  ok: false,
  code: 'UNANSWERED',
  message: `the supervisor has not answered for ${ANSWER_MS / 1000} s and may still do what was asked; look at the queue before you ask again`,
};

/** Sends questions over the channel, and gives each its answer. */
function asking(send: Supervised['send']): Supervised['ask'] {
  const waiting = new Map<number, (answer: RunControlAnswer) => void>();
  let lastId = 0;
  process.on('message', (message) => {
    const { type, id, answer } = message as SupervisorMessage;
    if (type === 'answer') waiting.get(id)?.(answer);
  });
  return (request) => {
    const id = ++lastId;
    return new Promise((resolve) => {
      const settle = (answer: RunControlAnswer) => {
        clearTimeout(timer);
        waiting.delete(id);
        resolve(answer);
      };
      const timer = setTimeout(() => {
        settle(UNANSWERED);
      }, ANSWER_MS);
      waiting.set(id, settle);
      send({ type: 'request', id, request });
    });
  };
}
