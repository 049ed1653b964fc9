import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { KIND_PATHS, parsedObject } from '@retrace/chat';
import { PageGuard } from '@retrace/page-guard';
import { pageError, readWholeBody, RequestError, sendError, type KeyGuard } from '@retrace/gateway/serve';
import { isRefusal } from '../run/refusal.js';
import { LOOPBACK } from '../roles/role-definitions.js';
import type { UsedServer } from './open-servers.js';

interface PolicyServersOptions {
  readonly policies: {
    /** @throws CliError where there is no such policy */
    use(model: string | null): Promise<UsedServer>;
    close(): Promise<void>;
  };
  readonly keys: Pick<KeyGuard, 'check' | 'close'>;
  /** Larger requests are refused. */
  readonly maxBodyBytes: number;
}

const UNAVAILABLE = 503;

/** The policies of a log behind one address: a request goes to the server of the policy that it names as its model. */
export class PolicyServers {
  private readonly guard = new PageGuard({ host: LOOPBACK, allowedHosts: [], addedBy: null });
  private readonly server: Server;

  private constructor(private readonly options: PolicyServersOptions) {
    this.server = createServer({ requestTimeout: 0 }, (request, client) => {
      client.on('error', () => undefined);
      void this.handle(request, client);
    });
  }

  static async listen(options: PolicyServersOptions): Promise<PolicyServers> {
    const servers = new PolicyServers(options);
    await new Promise<void>((resolve, reject) => {
      servers.server.once('error', reject);
      servers.server.listen(0, LOOPBACK, resolve);
    });
    return servers;
  }

  /** Without `/v1`. */
  get url(): string {
    return `http://${LOOPBACK}:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await this.options.policies.close();
    await this.options.keys.close();
  }

  private async handle(request: IncomingMessage, client: ServerResponse): Promise<void> {
    let used: UsedServer | null = null;
    try {
      const refusal = this.guard.refusalOf(request);
      if (refusal !== null) throw pageError(refusal);
      if (!isKindQuestion(request)) await this.options.keys.check(request.headers);
      const body = request.method === 'POST' ? await readWholeBody(request, this.options.maxBodyBytes) : null;
      used = await this.options.policies.use(body === null ? null : modelIn(body));
      await forward({ request, body, client, url: used.url });
    } catch (error) {
      // An answer that says nothing of a policy would count as that of an unknown program for good. Without one the proxy asks again.
      if (client.headersSent || (isKindQuestion(request) && isRefusal(error))) client.destroy();
      else sendError(client, toRequestError(error));
    } finally {
      used?.release();
    }
  }
}

/** Whether it is a question by which the proxy learns which program this is. It asks them without a key. */
function isKindQuestion({ method, url = '/' }: IncomingMessage): boolean {
  return method === 'GET' && KIND_PATHS.includes(url);
}

function modelIn(body: Buffer): string | null {
  const model = parsedObject(body.toString())?.model;
  return typeof model === 'string' ? model : null;
}

interface Forwarding {
  readonly request: IncomingMessage;
  readonly body: Buffer | null;
  readonly client: ServerResponse;
  readonly url: string;
}

/** Passes a request on to this host only: its target is sent as it is, and is no part of the address. */
async function forward({ request, body, client, url }: Forwarding): Promise<void> {
  const { method, rawHeaders, url: path = '/' } = request;
  const { port } = new URL(url);
  const sent = httpRequest({ host: LOOPBACK, port, method, path, headers: rawHeaders });
  client.once('close', () => sent.destroy());
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).on('error', reject);
  });
  sent.end(body ?? undefined);
  const answer = await answered;
  client.writeHead(answer.statusCode ?? UNAVAILABLE, answer.rawHeaders);
  await pipeline(answer, client);
}

function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return isRefusal(error)
    ? new RequestError(message, { status: 404, param: 'model', code: 'model_not_found' })
    : new RequestError(message, { status: UNAVAILABLE, code: 'policy_unavailable' });
}
