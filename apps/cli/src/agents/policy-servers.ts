import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { ControlTail, type EventLog } from '@retrace/log';
import type { CheckpointFiles } from '@retrace/policy';
import { openRunSupply, startServer, type RunningServer } from '@retrace/serve';
import { CliError } from '../cli-error.js';
import { readVersion } from '../installation.js';
import { namedPolicy } from './named-policy.js';

interface PolicyServersOptions {
  readonly log: EventLog;
  readonly checkpoints: CheckpointFiles;
  readonly keyDirectory: string;
  readonly warn: (message: string) => void;
}

const LOOPBACK = '127.0.0.1';
/** Policies whose weights are in memory; of more, the one that was opened first is closed. */
const MAX_OPEN = 3;
const CONCURRENCY = 16;
const MAX_QUEUED = 256;
const MAX_BODY_BYTES = 32 * 1024 ** 2;
const NOT_FOUND = 404;
const UNAVAILABLE = 503;

/** The policies of a log behind one address: a request goes to the server of the policy that it names as its model, which starts with the first of them. */
export class PolicyServers {
  url = '';
  private readonly control: ControlTail;
  private readonly servers = new Map<string, Promise<RunningServer>>();
  private readonly server: Server;

  private constructor(private readonly options: PolicyServersOptions) {
    this.control = new ControlTail(options.log);
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
    servers.url = `http://${LOOPBACK}:${(servers.server.address() as AddressInfo).port}`;
    return servers;
  }

  /** Loads the newest policy, so that the proxy, which asks soon, learns of its tokenizer. @throws CliError `POLICY_UNKNOWN` before the first */
  async openNewest(): Promise<void> {
    await this.serverOf(null);
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    for (const opening of this.servers.values())
      await opening.then(
        (server) => server.close(),
        () => undefined,
      );
    this.control.close();
    await this.options.log.close();
  }

  private async handle(request: IncomingMessage, client: ServerResponse): Promise<void> {
    try {
      const body = request.method === 'POST' ? await buffer(request) : null;
      const { url } = await this.serverOf(body === null ? null : modelIn(body));
      await forward({ request, body, client, url });
    } catch (error) {
      if (client.headersSent) client.destroy();
      else sendError(client, error);
    }
  }

  private async serverOf(model: string | null): Promise<RunningServer> {
    await this.control.catchUp();
    const { run, policyVersion } = await namedPolicy(
      model,
      this.control.state.runs,
      this.options.checkpoints,
    );
    const name = model?.startsWith('run:') ? model : undefined;
    const key = `${run.runId} ${policyVersion ?? ''} ${name ?? ''}`;
    const open = this.servers.get(key);
    if (open !== undefined) return open;
    const opening = this.open(run.runId, policyVersion, name);
    this.servers.set(key, opening);
    opening.catch(() => this.servers.delete(key));
    const [oldest] = this.servers;
    if (this.servers.size > MAX_OPEN) {
      this.servers.delete(oldest[0]);
      void oldest[1].then((server) => server.close()).catch(() => undefined);
    }
    return opening;
  }

  private async open(runId: string, policyVersion: number | null, name?: string): Promise<RunningServer> {
    const { log, checkpoints, keyDirectory, warn } = this.options;
    const supply = await openRunSupply({ log, checkpoints, runId, name, policyVersion, warn });
    return startServer(
      {
        ...{ host: LOOPBACK, port: 0, allowedHosts: [], keyDirectory },
        ...{ concurrency: CONCURRENCY, maxQueued: MAX_QUEUED, contextLength: null },
        ...{ maxBodyBytes: MAX_BODY_BYTES, logprobsMode: 'raw_logprobs' },
      },
      supply,
      { version: readVersion(), warn },
    );
  }
}

function modelIn(body: Buffer): string | null {
  try {
    const { model } = JSON.parse(body.toString()) as { readonly model?: unknown };
    return typeof model === 'string' ? model : null;
  } catch {
    return null;
  }
}

interface Forwarding {
  readonly request: IncomingMessage;
  readonly body: Buffer | null;
  readonly client: ServerResponse;
  readonly url: string;
}

async function forward({ request, body, client, url }: Forwarding): Promise<void> {
  const { method, rawHeaders } = request;
  const sent = httpRequest(new URL(request.url ?? '/', url), { method, headers: rawHeaders });
  client.once('close', () => sent.destroy());
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).on('error', reject);
  });
  sent.end(body ?? undefined);
  const answer = await answered;
  client.writeHead(answer.statusCode ?? UNAVAILABLE, answer.rawHeaders);
  await pipeline(answer, client);
}

/** Answers in the form of OpenAI's API. */
function sendError(client: ServerResponse, error: unknown): void {
  const isUnknown = error instanceof CliError;
  const message = error instanceof Error ? error.message : String(error);
  const type = isUnknown ? 'invalid_request_error' : 'server_error';
  const code = isUnknown ? 'model_not_found' : 'policy_unavailable';
  client.writeHead(isUnknown ? NOT_FOUND : UNAVAILABLE, { 'content-type': 'application/json' });
  client.end(JSON.stringify({ error: { message, type, param: isUnknown ? 'model' : null, code } }));
}
