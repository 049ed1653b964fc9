import type { Sampling, TokenUsage } from '../wire/records.js';
import { chatMessage, errorText, jsonText, resultText } from './chat-message.js';
import { fromLangChain, type LangChainMessage } from './langchain-messages.js';
import type { Metadata, RunNode } from './langchain-runs.js';
import type { ModelCall } from './recorded-agent.js';

/** The answer of a model. */
export interface LlmResult {
  readonly generations: readonly (readonly { readonly text?: string; readonly message?: AnswerMessage }[])[];
}

interface AnswerMessage extends LangChainMessage {
  readonly usage_metadata?: {
    readonly input_tokens?: number;
    readonly output_tokens?: number;
    readonly input_token_details?: { readonly cache_read?: number };
    readonly output_token_details?: { readonly reasoning?: number };
  };
  readonly response_metadata?: Readonly<Record<string, unknown>>;
}

/** The call of a model that has answered. */
export function answeredCall(
  node: RunNode,
  { message, text }: { readonly message?: AnswerMessage; readonly text?: string },
): ModelCall {
  const { model_name, model, finish_reason } = message?.response_metadata ?? {};
  const provider = node.metadata.ls_provider;
  const answered = [model_name, model, node.model].find((name) => typeof name === 'string');
  return {
    prompt: node.prompt ?? [],
    output: message ? fromLangChain(message) : chatMessage({ role: 'assistant', content: text ?? '' }),
    model: typeof answered === 'string' ? answered : '',
    engine: typeof provider === 'string' ? provider : '',
    usage: toUsage(message?.usage_metadata),
    generationMs: performance.now() - node.startedAtMs,
    ...(node.sampling && { sampling: node.sampling }),
    ...(node.offeredTools && { offeredTools: node.offeredTools }),
    ...(typeof finish_reason === 'string' && { finishReason: finish_reason }),
  };
}

/** The call of a model that has failed. */
export function failedCall(node: RunNode, error: unknown): ModelCall {
  const provider = node.metadata.ls_provider;
  return {
    prompt: node.prompt ?? [],
    output: null,
    error: errorText(error),
    model: node.model ?? '',
    engine: typeof provider === 'string' ? provider : '',
    generationMs: performance.now() - node.startedAtMs,
    ...(node.sampling && { sampling: node.sampling }),
    ...(node.offeredTools && { offeredTools: node.offeredTools }),
  };
}

function toUsage(usage: AnswerMessage['usage_metadata']): TokenUsage {
  return {
    inputTokens: usage?.input_tokens ?? null,
    cachedInputTokens: usage?.input_token_details?.cache_read ?? null,
    outputTokens: usage?.output_tokens ?? null,
    reasoningTokens: usage?.output_token_details?.reasoning ?? null,
  };
}

/** A temperature that the caller left to the server is not known. */
export function readSampling({ temperature, top_p, top_k, max_tokens }: Readonly<Record<string, unknown>>): {
  sampling?: Sampling;
} {
  if (typeof temperature !== 'number') return {};
  return {
    sampling: {
      temperature,
      ...(typeof top_p === 'number' && { topP: top_p }),
      ...(typeof top_k === 'number' && { topK: top_k }),
      ...(typeof max_tokens === 'number' && { maxNewTokens: max_tokens }),
    },
  };
}

/** A tool gives text, any value, or a message. */
export function toolText(output: unknown): string {
  if (typeof output !== 'object' || output === null || !('content' in output)) return resultText(output);
  const { content } = fromLangChain(output as LangChainMessage);
  return typeof content === 'string' ? content : jsonText(content);
}

/** The MCP server that a tool is of, where its metadata names one. */
export function findMcpServer({ mcp_server, mcpServer }: Metadata): string | undefined {
  const name = mcp_server ?? mcpServer;
  return typeof name === 'string' ? name : undefined;
}
