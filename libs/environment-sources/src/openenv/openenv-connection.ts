import type { WebSocket } from 'ws';
import { isJsonObject, type JsonObject, parsedJson } from '@retrace/trajectory/json';
import { EnvironmentSourceError } from '../errors.js';

const CONNECT_TIMEOUT_MS = 10_000;
const MAX_MESSAGE_BYTES = 100 * 2 ** 20;

/** One session on an OpenEnv server: a WebSocket of its own. Its messages have no ids, so one request is under way at a time. */
export class OpenEnvConnection {
  private waiting: {
    readonly resolve: (message: JsonObject) => void;
    readonly reject: (error: Error) => void;
  } | null = null;
  /** Reason for which the session is over; an error that came unasked, such as that the server is full. */
  private ending: EnvironmentSourceError | null = null;

  private constructor(
    private readonly url: string,
    private readonly socket: WebSocket,
  ) {
    socket.on('message', (data: Buffer) => {
      this.take(data.toString());
    });
    socket.on('close', (code) => {
      this.end(
        new EnvironmentSourceError('SERVER_UNREACHABLE', `${url}: the connection was closed (${code})`),
      );
    });
    socket.on('error', (error) => {
      this.end(new EnvironmentSourceError('SERVER_UNREACHABLE', `${url}: ${error.message}`));
    });
  }

  /** @throws EnvironmentSourceError `SERVER_UNREACHABLE` */
  static async open(url: string): Promise<OpenEnvConnection> {
    const address = `${url.replace(/^http/, 'ws').replace(/\/$/, '')}/ws`;
    const { WebSocket } = await import('ws');
    const socket = new WebSocket(address, {
      handshakeTimeout: CONNECT_TIMEOUT_MS,
      maxPayload: MAX_MESSAGE_BYTES,
    });
    const connection = new OpenEnvConnection(url, socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve).once('error', (cause) => {
        reject(new EnvironmentSourceError('SERVER_UNREACHABLE', `${address}: ${cause.message}`, { cause }));
      });
    });
    return connection;
  }

  /**
   * Sends a message; resolves with the data of the observation that answers it.
   *
   * @throws EnvironmentSourceError `SERVER_FULL` for CAPACITY_REACHED; `SERVER_REFUSED` with the server's words
   */
  async ask(type: 'reset' | 'step', data: object): Promise<Readonly<Record<string, unknown>>> {
    const message = await new Promise<JsonObject>((resolve, reject) => {
      if (this.ending) {
        reject(this.ending);
        return;
      }
      if (this.waiting) throw new Error('a request is under way');
      this.waiting = { resolve, reject };
      this.socket.send(JSON.stringify({ type, data }));
    });
    if (message.type === 'observation' && isJsonObject(message.data)) return message.data;
    if (message.type === 'error') throw this.refusal(message);
    const shown = JSON.stringify(message.type);
    throw new EnvironmentSourceError('PROTOCOL_VIOLATION', `${this.url} answered ${type} with ${shown}`);
  }

  close(): void {
    if (this.socket.readyState === this.socket.OPEN) this.socket.send(JSON.stringify({ type: 'close' }));
    this.socket.close();
  }

  private take(text: string): void {
    const message = parsedJson(text);
    if (!isJsonObject(message)) {
      const sent = message === undefined ? 'what is no JSON' : `${text.slice(0, 80)}, must be an object`;
      this.end(new EnvironmentSourceError('PROTOCOL_VIOLATION', `${this.url} sent ${sent}`));
      this.socket.terminate();
      return;
    }
    const { waiting } = this;
    this.waiting = null;
    if (waiting) waiting.resolve(message);
    else if (message.type === 'error') this.ending = this.refusal(message);
  }

  private refusal(message: JsonObject): EnvironmentSourceError {
    const data = isJsonObject(message.data) ? message.data : {};
    const code = data.code === 'CAPACITY_REACHED' ? 'SERVER_FULL' : 'SERVER_REFUSED';
    return new EnvironmentSourceError(
      code,
      `${this.url}: ${JSON.stringify(data.message)} (${JSON.stringify(data.code)})`,
    );
  }

  private end(error: EnvironmentSourceError): void {
    this.ending ??= error;
    this.waiting?.reject(this.ending);
    this.waiting = null;
  }
}
