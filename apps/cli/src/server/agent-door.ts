import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { CliError } from '../cli-error.js';
import type { LogStream } from '../supervisor/log-stream.js';
import type { RoleDefinition } from '../supervisor/role.js';
import { Supervisor } from '../supervisor/supervisor.js';
import { LOOPBACK } from './role-definitions.js';

interface AgentDoorOptions {
  /** The first port to try. */
  readonly port: number;
  readonly log: LogStream;
  readonly lockFileDescriptors: readonly number[];
  /** The process behind the door. */
  readonly role: RoleDefinition;
}

/** Ports that are tried, one after the other. */
const NUM_PORTS = 20;
const LAST_PORT = 65_535;
/** The process behind the door ends after so long without a connection, and its weights leave memory. */
const IDLE_MS = 15 * 60_000;

/**
 * The address that agents call. It listens from the beginning, and costs nothing until somebody connects: then the process starts that answers, and bytes pass to it
 * as they come.
 */
export class AgentDoor {
  private opened: { readonly supervisor: Supervisor; readonly url: Promise<URL> } | null = null;
  private readonly sockets = new Set<Socket>();
  private idle: NodeJS.Timeout | undefined;
  private isClosed = false;

  private constructor(
    private readonly server: Server,
    private readonly options: AgentDoorOptions,
  ) {
    server.on('connection', (client) => void this.connect(client));
  }

  /** @throws CliError `PORT_TAKEN` where none of the ports is free */
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

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.idle);
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await this.opened?.supervisor.stop();
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
    try {
      const { hostname, port } = await this.process();
      const proxy = connect(Number(port), hostname);
      proxy.on('error', () => client.destroy());
      client.once('close', () => proxy.destroy());
      client.pipe(proxy).pipe(client);
    } catch (error) {
      client.end(unavailable(error instanceof Error ? error.message : String(error)));
    }
  }

  /** The process's address; starts it where it does not run. */
  private process(): Promise<URL> {
    if (this.isClosed) return Promise.reject(new CliError('ROLE_FAILED', 'the server is stopping'));
    if (this.opened !== null) return this.opened.url;
    const { log, lockFileDescriptors, role } = this.options;
    const supervisor = new Supervisor({ log, lockFileDescriptors });
    const url = supervisor.start(role).then((ready) => new URL(ready.url ?? ''));
    const opened = { supervisor, url };
    this.opened = opened;
    // The next connection starts another.
    void supervisor.whenEnded(role.name).then(() => {
      if (this.opened === opened) this.opened = null;
    });
    return url;
  }

  private waitForNext(): void {
    if (this.sockets.size > 0 || this.opened === null || this.isClosed) return;
    this.idle = setTimeout(() => void this.opened?.supervisor.stop(), IDLE_MS);
    this.idle.unref();
  }
}

/** A server on this port; null where it can't be used. */
function listen(port: number): Promise<Server | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => {
      resolve(null);
    });
    server.listen({ host: LOOPBACK, port, exclusive: true }, () => {
      resolve(server);
    });
  });
}

/** An answer in HTTP, in the form of OpenAI's API. */
function unavailable(message: string): string {
  const body = JSON.stringify({
    error: { message, type: 'server_error', param: null, code: 'proxy_unavailable' },
  });
  const head = ['HTTP/1.1 503 Service Unavailable', 'content-type: application/json', 'connection: close'];
  return `${[...head, `content-length: ${Buffer.byteLength(body)}`].join('\r\n')}\r\n\r\n${body}`;
}
