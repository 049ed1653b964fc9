import type { ConversationMessage } from '@retrace/policy';
import type { PolicySupply } from '../supply/policy-supply.js';
import { RequestError } from './request-error.js';
import { isFields, RequestFields, type JsonFields } from './request-fields.js';
import { MAX_LIKELIEST, readSampling, type SamplingFields } from './sampling-fields.js';
import { readTools, type RequestTools } from './tools.js';

/** A request of `/v1/chat/completions`. */
interface ChatRequest {
  readonly prompt: Int32Array;
  readonly sampling: SamplingFields;
  /** Likeliest tokens to report; null: no logprobs. */
  readonly logprobs: number | null;
  readonly tools: RequestTools | null;
}

const ROLES: readonly string[] = ['system', 'developer', 'user', 'assistant', 'tool'];

/** @throws RequestError, and PolicyError where the chat template refuses the conversation */
export function readChat(fields: RequestFields, { text }: PolicySupply): ChatRequest {
  const listed = fields.required('messages', fields.objects('messages'));
  if (listed.length === 0) throw invalid('messages', '"messages" is []; it needs at least one');
  const messages = listed.map((message, n) => messageOf(message, `messages[${n}].`));
  const tools = readTools(fields);
  if (tools !== null && !text.conversations.hasTemplate) {
    throw invalid('tools', '"tools" is given; this model has no chat template, which would tell it of tools');
  }
  const variables = fields.object('chat_template_kwargs') ?? {};
  fields.only('add_generation_prompt', true);
  fields.only('continue_final_message', false);
  for (const name of [
    'chat_template',
    'documents',
    'reasoning_effort',
    'modalities',
    'audio',
    'prediction',
    'prompt_logprobs',
  ])
    fields.only(name);
  const maxTokens = fields.integer('max_completion_tokens', { min: 1 });
  const oldMaxTokens = fields.integer('max_tokens', { min: 1 });
  const request = {
    prompt: text.conversations.encode({
      messages,
      variables: { ...variables, ...(tools && { tools: tools.definitions }) },
    }),
    sampling: readSampling(fields, maxTokens ?? oldMaxTokens),
    logprobs: logprobsOf(fields),
    tools,
  };
  fields.refuseOthers();
  return request;
}

function logprobsOf(fields: RequestFields): number | null {
  const asks = fields.boolean('logprobs') ?? false;
  const numLikeliest = fields.integer('top_logprobs', { min: 0, max: MAX_LIKELIEST });
  if (numLikeliest !== null && numLikeliest > 0 && !asks) {
    throw invalid('top_logprobs', `"top_logprobs" is ${numLikeliest}; it needs "logprobs": true`);
  }
  return asks ? (numLikeliest ?? 0) : null;
}

function messageOf(message: JsonFields, path: string): ConversationMessage {
  const fields = new RequestFields(message, path);
  const role = fields.required('role', fields.text('role'));
  if (!ROLES.includes(role)) {
    throw invalid(
      `${path}role`,
      `"${path}role" is ${JSON.stringify(role)}; it must be one of ${ROLES.join(', ')}`,
    );
  }
  const calls = fields.objects('tool_calls');
  const reasoning = fields.text('reasoning_content');
  const toolCallId = fields.text('tool_call_id');
  const name = fields.text('name');
  fields.only('refusal');
  fields.only('audio');
  fields.only('function_call');
  const content = contentOf(fields.any('content'), `${path}content`, calls !== null);
  fields.any('annotations');
  fields.refuseOthers();
  return {
    // Chat templates of open models know no role "developer", OpenAI's newer name for "system".
    role: role === 'developer' ? 'system' : role,
    content,
    ...(calls !== null && calls.length > 0 && { tool_calls: calls.map((call) => callOf(call, path)) }),
    ...(reasoning !== null && { reasoning_content: reasoning }),
    ...(toolCallId !== null && { tool_call_id: toolCallId }),
    ...(name !== null && { name }),
  };
}

/** The text of a message: whole, or in parts. */
function contentOf(content: unknown, param: string, mayLack: boolean): string {
  if (content === undefined && mayLack) return '';
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) {
    return content
      .map((part: unknown, n) => {
        if (isFields(part) && part.type === 'text' && typeof part.text === 'string') return part.text;
        throw invalid(
          `${param}[${n}]`,
          `"${param}[${n}]" must be {"type": "text", "text": …}; other contents are not supported`,
        );
      })
      .join('');
  }
  throw invalid(param, `"${param}" must be a text or a list of parts`);
}

/** A call as templates read it: with its arguments as an object. */
function callOf(call: JsonFields, path: string): JsonFields {
  const called = call.function;
  if (!isFields(called) || typeof called.name !== 'string') {
    throw invalid(
      `${path}tool_calls`,
      `"${path}tool_calls" must have {"id", "type": "function", "function": {"name", "arguments"}}`,
    );
  }
  return { ...call, function: { ...called, arguments: argumentsOf(called.arguments) } };
}

function argumentsOf(written: unknown): unknown {
  if (typeof written !== 'string') return written ?? {};
  try {
    return JSON.parse(written) as unknown;
  } catch {
    return written;
  }
}

function invalid(param: string, message: string): RequestError {
  return new RequestError(message, { param, code: 'invalid_value' });
}
