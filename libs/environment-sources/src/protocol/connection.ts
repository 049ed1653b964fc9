import type { WebSocket } from 'ws';
import { isJsonObject, parsedJson } from '@retrace/trajectory/json';
import { EnvironmentSourceError, type EnvironmentSourceErrorCode } from '../errors.js';
import type { HostAnswer, Request } from './messages.js';

const CONNECT_TIMEOUT_MS = 10_000;
const MAX_MESSAGE_BYTES = 64 * 2 ** 20;
const CODES: Readonly<Record<string, EnvironmentSourceErrorCode>> = {
  CAPACITY_REACHED: 'SERVER_FULL',
  INVALID_MESSAGE: 'PROTOCOL_VIOLATION',
  UNSUPPORTED_PROTOCOL: 'PROTOCOL_VIOLATION',
};

interface Waiting {
  readonly resolve: (answer: HostAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** One WebSocket to a server of Retrace's protocol, shared by all episodes on that server. */
export class ProtocolConnection {
  private readonly waiting = new Map<number, Waiting>();
  private nextId = 1;

  private constructor(
    private readonly url: string,
    private readonly socket: WebSocket,
  ) {
    socket.on('message', (data: Buffer) => {
      this.take(data.toString());
    });
    socket.once('close', (code, reason) => {
      this.fail(`the connection was closed (${code}${reason.length > 0 ? `, ${reason.toString()}` : ''})`);
    });
    socket.on('error', (error) => {
      this.fail(error.message);
    });
  }

  /** @throws EnvironmentSourceError `SERVER_UNREACHABLE` */
  static async open(url: string): Promise<ProtocolConnection> {
    const address = `${url.replace(/^http/, 'ws').replace(/\/$/, '')}/ws`;
    const { WebSocket } = await import('ws');
    const socket = new WebSocket(address, {
      handshakeTimeout: CONNECT_TIMEOUT_MS,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
    });
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve).once('error', (cause) => {
        reject(new EnvironmentSourceError('SERVER_UNREACHABLE', `${address}: ${cause.message}`, { cause }));
      });
    });
    return new ProtocolConnection(url, socket);
  }

  get isOpen(): boolean {
    return this.socket.readyState === this.socket.OPEN;
  }

  /**
   * Sends a request; resolves with its answer, of the type that it calls for.
   *
   * @throws EnvironmentSourceError what the server refused, with its code and words; `SERVER_UNREACHABLE` when the connection is lost
   */
  async ask<T extends HostAnswer['type']>(
    request: Request,
    type: T,
  ): Promise<Extract<HostAnswer, { type: T }>> {
    const id = this.nextId++;
    const answer = await new Promise<HostAnswer>((resolve, reject) => {
      if (!this.isOpen) {
        reject(this.unreachable('the connection is closed'));
        return;
      }
      this.waiting.set(id, { resolve, reject });
      this.socket.send(JSON.stringify({ id, ...request }));
    });
    if (answer.type === type) return answer as Extract<HostAnswer, { type: T }>;
    if (answer.type === 'error') {
      const code = CODES[answer.code] ?? 'SERVER_REFUSED';
      throw new EnvironmentSourceError(code, `${this.url}: ${answer.message} (${answer.code})`);
    }
    throw this.violation(`answered ${request.type} with ${JSON.stringify(answer.type)}, must be "${type}"`);
  }

  close(): void {
    this.socket.close();
  }

  private take(text: string): void {
    const message = parsedJson(text);
    if (!isJsonObject(message)) {
      const sent = text.slice(0, 80);
      this.breakOff(
        message === undefined ? `sent what is no JSON: ${sent}` : `sent ${sent}, must be an object`,
      );
      return;
    }
    const waiting = typeof message.id === 'number' ? this.waiting.get(message.id) : undefined;
    if (waiting === undefined) {
      this.breakOff(`sent an answer with the id ${JSON.stringify(message.id)}, which no open request has`);
      return;
    }
    this.waiting.delete(message.id as number);
    waiting.resolve(message as unknown as HostAnswer);
  }

  private breakOff(what: string): void {
    const error = this.violation(what);
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
    this.socket.terminate();
  }

  private fail(reason: string): void {
    for (const { reject } of this.waiting.values()) reject(this.unreachable(reason));
    this.waiting.clear();
  }

  private unreachable(reason: string): EnvironmentSourceError {
    return new EnvironmentSourceError('SERVER_UNREACHABLE', `${this.url}: ${reason}`);
  }

  private violation(what: string): EnvironmentSourceError {
    return new EnvironmentSourceError('PROTOCOL_VIOLATION', `${this.url} ${what}`);
  }
}
