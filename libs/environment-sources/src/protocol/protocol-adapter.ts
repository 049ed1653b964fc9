import type { Observation, ResetOptions, StepResult } from '@retrace/environments';
import type { Json } from '@retrace/trajectory';
import { EnvironmentSourceError } from '../errors.js';
import type { RemoteDescription, RemoteSession, ServerAdapter } from '../remote/adapter.js';
import { ProtocolConnection } from './connection.js';
import { PROTOCOL_VERSION, type Hello } from './messages.js';

/** Speaks Retrace's own protocol (docs/environments.md): all episodes on a server share a connection. */
export class ProtocolAdapter implements ServerAdapter {
  private readonly connections = new Map<string, Promise<ProtocolConnection>>();
  private numEpisodes = 0;

  constructor(private readonly options: Json = {}) {}

  async check(url: string, signal: AbortSignal): Promise<void> {
    const response = await fetch(`${url.replace(/\/$/, '')}/health`, { signal });
    if (!response.ok) throw new Error(`GET /health answered ${response.status}`);
  }

  async describe(url: string): Promise<RemoteDescription> {
    const connection = await this.connect(url);
    const hello = await connection.ask({ type: 'hello', protocol: PROTOCOL_VERSION }, 'hello');
    const fault = helloFault(hello);
    if (fault !== null) throw new EnvironmentSourceError('PROTOCOL_VIOLATION', `${url}: hello: ${fault}`);
    return hello;
  }

  async open(url: string): Promise<RemoteSession> {
    const connection = await this.connect(url);
    return new ProtocolSession(connection, `${++this.numEpisodes}`, this.options);
  }

  close(): void {
    for (const connecting of this.connections.values()) {
      connecting.then(
        (connection) => {
          connection.close();
        },
        () => undefined,
      );
    }
    this.connections.clear();
  }

  /** The connection to a server, made again when it was lost. */
  private async connect(url: string): Promise<ProtocolConnection> {
    const known = this.connections.get(url);
    if (known) {
      const connection = await known.catch(() => null);
      if (connection?.isOpen) return connection;
      if (this.connections.get(url) === known) this.connections.delete(url);
    }
    const made = this.connections.get(url) ?? ProtocolConnection.open(url);
    this.connections.set(url, made);
    return made;
  }
}

class ProtocolSession implements RemoteSession {
  constructor(
    private readonly connection: ProtocolConnection,
    private readonly episode: string,
    private readonly options: Json,
  ) {}

  async reset({ task, seed, member = 0 }: ResetOptions): Promise<Observation> {
    const { episode, options } = this;
    const request = { type: 'reset', episode, task, seed, member, options } as const;
    return (await this.connection.ask(request, 'observation')).observation;
  }

  async step(action: string): Promise<StepResult> {
    return (await this.connection.ask({ type: 'step', episode: this.episode, action }, 'result')).result;
  }

  async close(): Promise<void> {
    await this.connection.ask({ type: 'close', episode: this.episode }, 'closed');
  }
}

function helloFault(hello: Hello): string | null {
  const { protocol, maxSteps, numTasks, families, offersAnchors, actions, description } = hello;
  if (protocol !== PROTOCOL_VERSION) return `protocol is ${protocol}, must be ${PROTOCOL_VERSION}`;
  if (typeof description !== 'string') return 'description must be a text';
  for (const [field, value] of Object.entries({ maxSteps, numTasks })) {
    if (value !== null && !(Number.isSafeInteger(value) && value > 0)) {
      return `${field} is ${JSON.stringify(value)}, must be a positive whole number or null`;
    }
  }
  if (typeof offersAnchors !== 'boolean') return 'offersAnchors must be true or false';
  if (!isTextList(families)) return 'families must be a list of texts';
  if (actions !== null && !isTextList(actions)) return 'actions must be a list of texts or null';
  return null;
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}
