import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { PageGuard } from '@retrace/page-guard';
import { CliError } from '../cli-error.js';
import type { LogStream } from '../supervisor/log-stream.js';
import type { RoleDefinition } from '../supervisor/role.js';
import { Supervisor } from '../supervisor/supervisor.js';
import { readRequestHead, type RequestHead } from './request-head.js';
import { LOOPBACK } from '../roles/role-definitions.js';

interface AgentDoorOptions {
  /** The first port to try. */
  readonly port: number;
  readonly log: LogStream;
  readonly lockFileDescriptors: readonly number[];
  /** The process behind the door. */
  readonly role: RoleDefinition;
  /** The process ends after so long without a connection, and its weights leave memory (default 15 minutes). */
  readonly idleMs?: number;
}

interface OpenedProcess {
  readonly supervisor: Supervisor;
  readonly url: Promise<URL>;
  readonly ended: Promise<void>;
  /** No connection goes to it any more. */
  isStopping: boolean;
}

/** Ports that are tried, one after the other. */
const NUM_PORTS = 20;
const LAST_PORT = 65_535;
const DEFAULT_IDLE_MS = 15 * 60_000;
const MAX_HEAD_BYTES = 16 * 1024;
const HEAD_TIMEOUT_MS = 60_000;

/**
 * The address that agents call. It listens from the beginning, and costs nothing until somebody calls: then the process starts that answers, and bytes pass to it
 * as they come. A request of a foreign web page starts nothing; the process refuses it in the connections that it has.
 */
export class AgentDoor {
  private opened: OpenedProcess | null = null;
  private readonly guard = new PageGuard({ host: LOOPBACK, allowedHosts: [], addedBy: null });
  private readonly sockets = new Set<Socket>();
  private idle: NodeJS.Timeout | undefined;
  private isClosed = false;

  private constructor(
    private readonly server: Server,
    private readonly options: AgentDoorOptions,
  ) {
    server.on('connection', (client) => void this.connect(client));
  }

  /** @throws CliError `PORT_TAKEN` where none of the ports is free; the error of the system where it is another */
  static async open(options: AgentDoorOptions): Promise<AgentDoor> {
    const { port } = options;
    const last = port === 0 ? 0 : Math.min(port + NUM_PORTS - 1, LAST_PORT);
    for (let next = port; next <= last; next++) {
      const server = await listen(next);
      if (server !== null) return new AgentDoor(server, options);
    }
    throw new CliError('PORT_TAKEN', `ports ${port} to ${last} on ${LOOPBACK}: none is free for agents`);
  }

  /** Without `/v1`. */
  get url(): string {
    return `http://${LOOPBACK}:${(this.server.address() as AddressInfo).port}`;
  }

  /** Resolves once the process behind the door has ended. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.idle);
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await this.stopProcess();
  }

  killAll(): void {
    this.opened?.supervisor.killAll();
  }

  private async connect(client: Socket): Promise<void> {
    clearTimeout(this.idle);
    this.sockets.add(client);
    client.on('error', () => client.destroy());
    client.once('close', () => {
      this.sockets.delete(client);
      this.waitForNext();
    });
    const head = await readRequestHead(client, { maxBytes: MAX_HEAD_BYTES, timeoutMs: HEAD_TIMEOUT_MS });
    if (head === null) {
      refuse(
        client,
        answer('431 Request Header Fields Too Large', 'no whole request came', 'invalid_request'),
      );
      return;
    }
    const refusal = this.guard.refusalOf(head.request);
    if (refusal === null) await this.pass(client, head);
    else refuse(client, answer('403 Forbidden', refusal.message, refusal.code.toLowerCase()));
  }

  private async pass(client: Socket, head: RequestHead): Promise<void> {
    try {
      const { hostname, port } = await this.process();
      if (client.destroyed) return;
      const proxy = connect(Number(port), hostname);
      client.once('close', () => proxy.destroy());
      proxy.on('error', (error) => {
        if (client.bytesWritten === 0) refuse(client, unavailable(error.message));
        else client.destroy();
      });
      proxy.write(head.bytes);
      client.pipe(proxy).pipe(client);
    } catch (error) {
      refuse(client, unavailable(error instanceof Error ? error.message : String(error)));
    }
  }

  /** The process's address; starts it where it does not run. */
  private async process(): Promise<URL> {
    // The data directory of agents belongs to one process at a time.
    while (this.opened?.isStopping === true) await this.opened.ended;
    if (this.isClosed) throw new CliError('ROLE_FAILED', 'the server is stopping');
    this.opened ??= this.start();
    return this.opened.url;
  }

  private start(): OpenedProcess {
    const { log, lockFileDescriptors, role } = this.options;
    const supervisor = new Supervisor({ log, lockFileDescriptors });
    const url = supervisor.start(role).then((ready) => new URL(ready.url ?? ''));
    const ended = supervisor.whenEnded(role.name).then(() => {
      // The next connection starts another.
      this.opened = null;
    });
    return { supervisor, url, ended, isStopping: false };
  }

  private async stopProcess(): Promise<void> {
    const { opened } = this;
    if (opened === null) return;
    opened.isStopping = true;
    await opened.supervisor.stop();
    await opened.ended;
  }

  private waitForNext(): void {
    if (this.sockets.size > 0 || this.opened === null || this.isClosed) return;
    clearTimeout(this.idle);
    this.idle = setTimeout(() => void this.stopProcess(), this.options.idleMs ?? DEFAULT_IDLE_MS);
    this.idle.unref();
  }
}

/** A server on this port; null where another program has it, or this user may not use it. */
function listen(port: number): Promise<Server | null> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(null);
      else reject(error);
    });
    server.listen({ host: LOOPBACK, port, exclusive: true }, () => {
      resolve(server);
    });
  });
}

/** Answers and ends a connection; what the client still sends is read and dropped, or it might never read the answer. */
function refuse(client: Socket, said: string): void {
  client.resume();
  client.end(said);
}

function unavailable(message: string): string {
  return answer('503 Service Unavailable', message, 'proxy_unavailable');
}

/** An answer in HTTP, in the form of OpenAI's API. */
function answer(status: string, message: string, code: string): string {
  const type = status.startsWith('5') ? 'server_error' : 'invalid_request_error';
  const body = JSON.stringify({ error: { message, type, param: null, code } });
  const head = [`HTTP/1.1 ${status}`, 'content-type: application/json', 'connection: close'];
  return `${[...head, `content-length: ${Buffer.byteLength(body)}`].join('\r\n')}\r\n\r\n${body}`;
}
