import type { ServerResponse } from 'node:http';
import type { LiveMessage } from './live-message.js';

/** A client with more unsent bytes has not read for minutes and is disconnected. */
const MAX_BACKLOG_BYTES = 1024 * 1024;
const RETRY_MS = 2_000;

/** One client of the live stream: server-sent events over a response that stays open. */
export class LiveConnection {
  private lastOffset = -1;
  /** Messages that arrive while older ones are still being read; null afterwards. */
  private held: LiveMessage[] | null = [];

  constructor(
    private readonly response: ServerResponse,
    private readonly client: { readonly runId: string; readonly mayGoOn: () => Promise<boolean> },
  ) {}

  open(headers: Readonly<Record<string, string | number | readonly string[]>>): void {
    this.response.writeHead(200, {
      ...(headers as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    this.response.write(`retry: ${RETRY_MS}\n\n`);
  }

  /** Sends the missed messages, then those that arrived meanwhile. `null`: too many were missed, so the client must read everything again. */
  catchUp(missed: readonly LiveMessage[] | null): void {
    const held = this.held ?? [];
    this.held = null;
    if (missed === null) this.write('event: reset\ndata: {}\n\n');
    for (const message of [...(missed ?? []), ...held]) this.send(message);
  }

  send(message: LiveMessage): void {
    if (message.runId !== this.client.runId) return;
    if (this.held) {
      this.held.push(message);
      return;
    }
    if (message.offset <= this.lastOffset) return;
    this.lastOffset = message.offset;
    this.write(`id: ${message.offset}\nevent: ${message.kind}\ndata: ${JSON.stringify(message.data)}\n\n`);
  }

  /** Sends a heartbeat; ends the stream of a client that may not read any more. */
  async beat(): Promise<void> {
    if (await this.client.mayGoOn()) this.write('event: heartbeat\ndata: {}\n\n');
    else this.end();
  }

  end(): void {
    this.response.end();
  }

  private write(text: string): void {
    if (this.response.destroyed) return;
    if (this.response.writableLength > MAX_BACKLOG_BYTES) {
      this.response.destroy();
      return;
    }
    this.response.write(text);
  }
}
