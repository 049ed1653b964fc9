import { asObjects } from '@retrace/chat';
import { looseJson, looseText } from '../fields.js';
import type { WireMessage } from '@retrace/recording';
import { newToolCall } from './chat-message.js';
import { newMessage } from './conversation-steps.js';

/** Roles of speakers by the names that data sets, trainers and tracers give them, in lower case and with `_` between words. */
const ROLES: ReadonlyMap<string, string> = new Map([
  ['human', 'user'],
  ['gpt', 'assistant'],
  ['chatgpt', 'assistant'],
  ['bing', 'assistant'],
  ['bard', 'assistant'],
  ['bot', 'assistant'],
  ['ai', 'assistant'],
  ['model', 'assistant'],
  ['tool_call', 'assistant'],
  ['function_call', 'assistant'],
  ['tool_response', 'tool'],
  ['function_response', 'tool'],
  ['observation', 'tool'],
  // LangChain's names.
  ['humanmessage', 'user'],
  ['aimessage', 'assistant'],
  ['systemmessage', 'system'],
  ['toolmessage', 'tool'],
]);

const PLAIN_ROLES: readonly string[] = ['user', 'assistant', 'system', 'tool'];

/** Speakers whose content is the calls of tools: `tool_call` of ms-swift, `function_call` of LLaMA-Factory. */
const CALLERS: readonly string[] = ['tool_call', 'function_call'];

/** The role of a speaker: `human` and `Human` are a user, `function-response` is a tool. A name that is not known is its own role. */
export function toRole(speaker: string): string {
  const name = plainName(speaker);
  return ROLES.get(name) ?? (PLAIN_ROLES.includes(name) ? name : speaker);
}

/** Whether a speaker's text is a call of a tool, which belongs to the agent's turn before it. */
export const isCaller = (speaker: string): boolean => CALLERS.includes(plainName(speaker));

/** The message of a speaker's text. */
export function spokenMessage(speaker: string, text: string): WireMessage {
  if (isCaller(speaker)) return callMessage(text);
  return { role: toRole(speaker), content: text };
}

/** The agent's message of a text that has a call, or a list of calls, as JSON: `{name, arguments}`; another text is its content. */
function callMessage(text: string): WireMessage {
  const parsed = looseJson(text);
  const calls = asObjects([parsed].flat());
  const toolCalls = calls.flatMap(({ name, arguments: given, id }) =>
    typeof name === 'string' ? [newToolCall({ id: looseText(id) ?? '', name, given })] : [],
  );
  return newMessage({
    role: 'assistant',
    content: toolCalls.length === 0 ? text : null,
    tool_calls: toolCalls,
  });
}

function plainName(speaker: string): string {
  return speaker.toLowerCase().replaceAll('-', '_');
}
