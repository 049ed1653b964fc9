import type { ContextRecipe } from '@retrace/config';
import { modelServer, TEXT_APIS, type ChatTool, type TextApiKind } from '@retrace/chat';
import { ServedChat, ServiceClient, type PaceOptions } from '@retrace/endpoints';
import { openPolicyText, type PolicyText } from '@retrace/policy';
import { CollectorError } from '../collector-error.js';
import { ChatEndpointActor } from './chat-endpoint-actor.js';

const TIMEOUT_MS = 120_000;
const MAX_RETRIES = 3;
const MAX_NEW_TOKENS = 512;
const CONCURRENCY = 16;

export interface ChatEndpointOptions {
  /** `openai`: any server of OpenAI's chat completions. `anthropic`: of Anthropic's messages. */
  readonly kind: TextApiKind;
  /** As the SDKs take it: `https://api.openai.com/v1`, `http://127.0.0.1:8000/v1`, `https://api.anthropic.com`. */
  readonly url: string;
  /** Name of the model on the server. */
  readonly model: string;
  /** Name of the environment variable that holds the API key; without it, none is sent. */
  readonly apiKeyVariable?: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** Default 1. */
  readonly temperature?: number;
  /** 1 = off (default). */
  readonly topP?: number;
  /** Asks for temperature 0 (default false). */
  readonly greedy?: boolean;
  /** Default 512. */
  readonly maxNewTokens?: number;
  readonly stopStrings?: readonly string[];
  readonly tools?: readonly ChatTool[];
  /** Most requests at one time (default 16). */
  readonly concurrency?: number;
  /** Time limit of one request (default 120,000). */
  readonly timeoutMs?: number;
  /** Attempts after the first (default 3). */
  readonly maxRetries?: number;
  /** Time limit of one turn, with its waits for a server that is down or refuses for its rate limit (default 600,000). */
  readonly deadlineMs?: number;
  /** Rate limits of the server (default none). */
  readonly pace?: PaceOptions;
  readonly signal: AbortSignal;
}

export interface ChatEndpoint {
  readonly actor: ChatEndpointActor;
  /** Bytes as tokens, since the model's own are not known. */
  readonly text: PolicyText;
  readonly context: ContextRecipe;
  /** Kind and address of the server, recorded as the engine of each step. */
  readonly describe: string;
  readonly model: string;
}

/**
 * Opens a model behind OpenAI's or Anthropic's API, to act in episodes. The server is not asked before the first turn.
 *
 * @throws CollectorError `INVALID_SETTING`, naming the field; EndpointError `INVALID_SETTING` for an address that is not of HTTP
 */
export async function openChatEndpoint(options: ChatEndpointOptions): Promise<ChatEndpoint> {
  const { kind, url, model, stopStrings, tools, signal, concurrency = CONCURRENCY } = options;
  const { temperature = 1, topP = 1, greedy = false, maxNewTokens = MAX_NEW_TOKENS } = options;
  requireSampling(options, temperature, topP);
  const service = new ServiceClient({ url, concurrency, isPatient: true, pace: options.pace });
  const text = await openPolicyText({ tokenizer: 'byte', words: null, directory: undefined });
  const actor = new ChatEndpointActor({
    model: new ServedChat(TEXT_APIS[kind], service, {
      model,
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      maxRetries: options.maxRetries ?? MAX_RETRIES,
      deadlineMs: options.deadlineMs,
      headers: keyHeaders(options),
    }),
    text,
    sampling: { temperature, topP, topK: 0, greedy, maxNewTokens },
    stopStrings,
    tools,
    signal,
  });
  const context = { window: 'history', tokenizer: 'byte', maxNewTokens } as const;
  return { actor, text, context, describe: `${kind} ${new URL(url).host}`, model };
}

function requireSampling(
  { kind }: Pick<ChatEndpointOptions, 'kind'>,
  temperature: number,
  topP: number,
): void {
  const { maxTemperature } = TEXT_APIS[kind];
  if (!(temperature >= 0 && temperature <= maxTemperature)) {
    const rule = `must be from 0 to ${maxTemperature} where kind is "${kind}"`;
    throw new CollectorError('INVALID_SETTING', `temperature: got ${temperature}, ${rule}`);
  }
  if (!(topP > 0 && topP <= 1)) {
    throw new CollectorError('INVALID_SETTING', `topP: got ${topP}, must be above 0 and at most 1`);
  }
}

function keyHeaders({ kind, apiKeyVariable, variables }: ChatEndpointOptions): Record<string, string> {
  if (apiKeyVariable === undefined) return {};
  const key = variables[apiKeyVariable] ?? '';
  if (key === '') {
    const rule = 'is not set in the environment';
    throw new CollectorError('INVALID_SETTING', `apiKeyVariable: ${apiKeyVariable} ${rule}`);
  }
  const { keyHeader } = modelServer(kind);
  return keyHeader === undefined ? { authorization: `Bearer ${key}` } : { [keyHeader]: key };
}
