import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ProblemError } from '../problems/problem.js';
import { LiveConnection } from './live-connection.js';
import { LiveFeed } from './live-feed.js';

const MAX_CONNECTIONS = 256;
const HEARTBEAT_MS = 15_000;
/** How far the store may be behind the log: a new client receives the messages of this time again. */
const SNAPSHOT_LAG_MS = 30_000;

interface LiveRequest {
  readonly runId: string;
  /** `Last-Event-ID`; null for a new client. */
  readonly lastOffset: number | null;
  /** Whether the client may still read; asked with every heartbeat. */
  readonly mayGoOn: () => Promise<boolean>;
}

/** Connects clients to the live stream. */
@Injectable()
export class LiveService implements OnModuleDestroy {
  private readonly connections = new Set<LiveConnection>();
  private readonly heartbeat: NodeJS.Timeout;

  constructor(private readonly feed: LiveFeed) {
    this.heartbeat = setInterval(() => {
      for (const connection of this.connections) void connection.beat();
    }, HEARTBEAT_MS).unref();
  }

  get numConnections(): number {
    return this.connections.size;
  }

  onModuleDestroy(): void {
    clearInterval(this.heartbeat);
    for (const connection of this.connections) connection.end();
  }

  /**
   * Answers with a stream of the run's events. A client that comes back names the last message it got and misses nothing.
   *
   * @throws ProblemError `TOO_MANY_CLIENTS`
   */
  async open(reply: FastifyReply, { runId, lastOffset, mayGoOn }: LiveRequest): Promise<void> {
    if (this.connections.size >= MAX_CONNECTIONS) {
      throw new ProblemError(
        'TOO_MANY_CLIENTS',
        `${MAX_CONNECTIONS} clients are connected, which is the maximum; close a page that shows a live run`,
      );
    }
    const connection = new LiveConnection(reply.raw, { runId, mayGoOn });
    const unsubscribe = this.feed.subscribe((message) => {
      connection.send(message);
    });
    this.connections.add(connection);
    reply.raw.once('close', () => {
      unsubscribe();
      this.connections.delete(connection);
    });
    connection.open(reply.getHeaders() as Record<string, string>);
    reply.hijack();
    connection.catchUp(
      lastOffset === null
        ? this.feed.since(SNAPSHOT_LAG_MS)
        : await this.feed.from(lastOffset + 1).catch(() => null),
    );
  }
}
