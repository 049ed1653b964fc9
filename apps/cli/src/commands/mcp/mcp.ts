import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromJsonSchema, McpServer, type CallToolResult } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { CliError } from '../../cli-error.js';
import { findServer } from '../../data-directory/hold-data-directory.js';
import { readVersion } from '../../installation.js';
import type { CommonOptions } from '../../options.js';
import { ApiRefusal, ApiConnection } from './api-connection.js';
import {
  readOperation,
  type ApiDocument,
  type ApiRequest,
  type Arguments,
  type Operation,
} from './operation.js';
import { offeredTools, type Tool } from './tools.js';

interface McpOptions extends CommonOptions {
  readonly url?: string;
  readonly allowControl?: true;
}

/** An answer that is longer says so instead, since an agent would lose the sight of all else. */
const MAX_CHARACTERS = 100_000;
const POLL_MS = 300;
/** Clients give up after a minute. */
const MOST_WAIT_MS = 45_000;

const INSTRUCTIONS = `Retrace records what LLM agents do (runs, episodes, steps, tokens) and trains policies on it.
A run is named by its id, 4 or more characters of it, or "latest". Lists come in pages: pass nextCursor as cursor.
For anything that no tool answers, read describe_tables and ask run_sql, which takes one SELECT in ClickHouse's SQL.
replay_update makes a recorded update again and says whether the loss is the same, bit for bit; what_if compares it with the update of another loss, estimator, clip or reward.
An answer of either with status "queued" or "running" is not there yet: get_replay and get_what_if ask for it again, under the runId that it names.`;

/**
 * Serves the API of a server as tools on standard input and output, until the input ends.
 *
 * @throws CliError `SERVER_UNAVAILABLE`, `SERVER_INCOMPATIBLE`, `KEY_UNKNOWN`
 */
export async function mcp({ dataDir, url, allowControl }: McpOptions): Promise<void> {
  const key = process.env.RETRACE_API_KEY ?? null;
  const api = new ApiConnection(
    () => (url === undefined ? runningServer(dataDir) : Promise.resolve(url)),
    key,
  );
  const [document, scopes] = await read(api);
  const tools = offeredTools(scopes, allowControl === true).map((tool) => ({
    ...{ api, tool, operation: readOperation(document, tool.operation) },
  }));
  const serving = serveStdio(() => {
    const server = new McpServer(
      { name: 'retrace', title: 'Retrace', version: readVersion() },
      { instructions: INSTRUCTIONS },
    );
    for (const tool of tools) register(server, tool);
    return server;
  });
  await finished(process.stdin, { writable: false });
  await serving.close();
}

/** Address of the server on a data directory. @throws CliError `SERVER_UNAVAILABLE` */
async function runningServer(dataDir: string): Promise<string> {
  const server = await findServer(dataDir);
  if (server !== null && server.apiUrl !== '') return server.apiUrl;
  throw new CliError(
    'SERVER_UNAVAILABLE',
    `data directory ${dataDir}: no server runs on it; start one with "retrace up", or name another by --url`,
    { retriable: true },
  );
}

/** Reads what the server has and what the key allows. */
async function read(
  api: ApiConnection,
): Promise<[ApiDocument, Awaited<ReturnType<ApiConnection['scopes']>>]> {
  try {
    return await Promise.all([api.readDocument(), api.scopes()]);
  } catch (error) {
    if (error instanceof ApiRefusal)
      throw new CliError('SERVER_UNAVAILABLE', error.message, { cause: error });
    throw error;
  }
}

interface OfferedTool {
  readonly api: ApiConnection;
  readonly tool: Tool;
  readonly operation: Operation;
}

function register(server: McpServer, { api, tool, operation }: OfferedTool): void {
  const { description, inputSchema, requestOf } = operation;
  const readOnlyHint = tool.isControl === undefined || tool.operation.startsWith('GET ');
  server.registerTool(
    tool.name,
    {
      description: [description, tool.shortening?.note].filter(Boolean).join('. '),
      inputSchema: fromJsonSchema<Arguments>(inputSchema),
      annotations: { readOnlyHint, openWorldHint: false },
    },
    async (given, { mcpReq: { signal } }) => {
      try {
        return toResult(await answer(api, tool, requestOf(given), signal), tool);
      } catch (error) {
        if (error instanceof ApiRefusal || error instanceof CliError) return failed(error.message);
        throw error;
      }
    },
  );
}

/** A question that takes time. */
interface Asked {
  readonly runId: string;
  /** null until its answer is there, or there will be none. */
  readonly endedAt: string | null;
}

/** Calls the operation; where it only asks for an answer, waits for that for a while, and cancels it when the client no longer waits. */
async function answer(
  api: ApiConnection,
  { waits }: Tool,
  request: ApiRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const first = await api.call(request, signal);
  if (waits === undefined) return first;
  let asked = first as Asked & Record<typeof waits, string>;
  // Under the id of the run: what "latest" means may change meanwhile.
  const path = `/api/runs/${asked.runId}/${request.path.split('/').at(-1)}/${asked[waits]}`;
  const until = performance.now() + MOST_WAIT_MS;
  try {
    while (asked.endedAt === null && performance.now() < until) {
      await sleep(POLL_MS, undefined, { signal });
      asked = (await api.call({ method: 'GET', path }, signal)) as typeof asked;
    }
  } catch (error) {
    if (signal.aborted) await api.call({ method: 'PATCH', path, body: { status: 'cancelled' } });
    throw error;
  }
  return asked;
}

function toResult(value: unknown, { shortening }: Tool): CallToolResult {
  const text = JSON.stringify(shortening === undefined ? value : shortening.shorten(value));
  if (text.length <= MAX_CHARACTERS) return { content: [{ type: 'text', text }] };
  const rule = `the answer has ${text.length} characters, at most ${MAX_CHARACTERS} are given`;
  return failed(`${rule}: ask for less by the arguments of the tool, or ask run_sql`);
}

function failed(message: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: message }] };
}
