import { isJsonObject } from '@retrace/chat';
import type { Dict } from '@retrace/jinja';
import type { ConversationMessage } from '@retrace/policy';
import type { PolicySupply } from '../supply/policy-supply.js';
import { RequestError } from '../../http/request-error.js';
import { RequestFields, type JsonFields } from './request-fields.js';
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
const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'thinking'];
/** Fields of messages that chat templates get as they were written. */
const PASSED_FIELDS = ['content', ...REASONING_FIELDS, 'tool_call_id', 'name'];

/** @throws RequestError, and PolicyError where the chat template refuses the conversation */
export function readChat(fields: RequestFields, { text }: PolicySupply): ChatRequest {
  const listed = fields.required('messages', fields.objects('messages'));
  if (listed.length === 0) throw invalid('messages', '"messages" is []; it needs at least one');
  const written = fields.written('messages') as readonly Dict[];
  const messages = listed.map((message, n) => readMessage(message, written[n], `messages[${n}].`));
  const tools = readTools(fields);
  if (tools !== null && !text.prompts.hasTemplate) {
    throw invalid('tools', '"tools" is given; this model has no chat template, which would tell it of tools');
  }
  fields.object('chat_template_kwargs');
  const variables = fields.written('chat_template_kwargs') as Dict | null;
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
    prompt: text.prompts.conversation(messages, {
      ...(variables && Object.fromEntries(variables.entries)),
      ...(tools && { tools: fields.written('tools') }),
    }),
    sampling: readSampling(fields, maxTokens ?? oldMaxTokens),
    logprobs: readLogprobs(fields),
    tools,
  };
  fields.refuseOthers();
  return request;
}

function readLogprobs(fields: RequestFields): number | null {
  const asks = fields.boolean('logprobs') ?? false;
  const numLikeliest = fields.integer('top_logprobs', { min: 0, max: MAX_LIKELIEST });
  if (numLikeliest !== null && numLikeliest > 0 && !asks) {
    throw invalid('top_logprobs', `"top_logprobs" is ${numLikeliest}; it needs "logprobs": true`);
  }
  return asks ? (numLikeliest ?? 0) : null;
}

/** A message with its contents, calls and thoughts as they were written. */
function readMessage(message: JsonFields, written: Dict, path: string): ConversationMessage {
  const fields = new RequestFields(message, { path });
  const role = fields.required('role', fields.text('role'));
  if (!ROLES.includes(role)) {
    throw invalid(
      `${path}role`,
      `"${path}role" is ${JSON.stringify(role)}; it must be one of ${ROLES.join(', ')}`,
    );
  }
  const calls = fields.objects('tool_calls') ?? [];
  for (const call of calls) checkCall(call, path);
  for (const name of [...REASONING_FIELDS, 'tool_call_id', 'name']) fields.text(name);
  fields.only('refusal');
  fields.only('audio');
  fields.only('function_call');
  checkContent(fields.any('content'), `${path}content`, role === 'assistant');
  fields.any('annotations');
  fields.refuseOthers();
  const passed = [...PASSED_FIELDS, ...(calls.length > 0 ? ['tool_calls'] : [])];
  return {
    ...Object.fromEntries(passed.map((name) => [name, written.get(name)])),
    // Chat templates of open models know no role "developer", OpenAI's newer name for "system".
    role: role === 'developer' ? 'system' : role,
  };
}

/** Refuses a content that is neither text nor text in parts. */
function checkContent(content: unknown, param: string, mayLack: boolean): void {
  if (content === undefined && mayLack) return;
  if (typeof content === 'string') return;
  if (!Array.isArray(content)) throw invalid(param, `"${param}" must be a text or a list of parts`);
  content.forEach((part: unknown, n) => {
    if (isJsonObject(part) && part.type === 'text' && typeof part.text === 'string') return;
    throw invalid(
      `${param}[${n}]`,
      `"${param}[${n}]" must be {"type": "text", "text": …}; other contents are not supported`,
    );
  });
}

function checkCall(call: JsonFields, path: string): void {
  const called = call.function;
  if (isJsonObject(called) && typeof called.name === 'string') return;
  throw invalid(
    `${path}tool_calls`,
    `"${path}tool_calls" must have {"id", "type": "function", "function": {"name", "arguments"}}`,
  );
}

function invalid(param: string, message: string): RequestError {
  return new RequestError(message, { param, code: 'invalid_value' });
}
