import { isJsonObject } from '@retrace/trajectory';
import { fromAnthropic, systemMessages } from '../conversation/anthropic-messages.js';
import { readChatMessage } from '../conversation/chat-message.js';
import { conversationRecords, END_UNKNOWN, type SpokenTurn } from '../conversation/conversation-steps.js';
import { isCaller, toRole, spokenMessage } from '../conversation/roles.js';
import { asFields, asList, asText, isMissing, json, known } from '../fields.js';
import { rowEpisodeId, type ImportFormat } from '../format.js';
import { RowFault } from '../skip.js';
import type { WireMessage } from '@retrace/recording';

/** Chats in OpenAI's form, one a row: `{messages, tools?}`, as in files for fine-tuning; or requests of Anthropic's API, with `system` beside them. */
export const openaiChat: ImportFormat = {
  name: 'openai-chat',
  description: 'chats of OpenAI messages, as for fine-tuning',
  parquetColumns: null,
  keyOf: null,
  detects: (row) => isJsonObject(row) && Array.isArray(row.messages),
  map: ([row], origin) => {
    const { messages, system, tools, metadata, ...others } = asFields(row.value, 'row');
    const episode = rowEpisodeId(origin, row);
    const instructions = systemMessages({ system }).map((message) => ({ message, isAgents: false }));
    const turns: SpokenTurn[] = [
      ...instructions,
      ...asList(messages, 'messages').flatMap((value, index) => readTurns(value, `messages[${index}]`)),
    ];
    if (turns.length === 0) throw new RowFault('NO_AGENT_TURN', 'it has no messages');
    const kept = known({ tools: tools ?? undefined, metadata: metadata ?? undefined, ...others });
    const start = {
      type: 'episode' as const,
      episode,
      ...(Object.keys(kept).length === 0 ? {} : { metadata: json(kept) }),
    };
    const records = conversationRecords(episode, turns, END_UNKNOWN).map((record) => known(record));
    return { episodes: [[start, ...records]], skipped: [] };
  },
};

/** The turn of a message; those of one of Anthropic's, whose results of tools are turns of their own. */
function readTurns(value: unknown, name: string): SpokenTurn[] {
  const fields = asFields(value, name);
  const role = asText(fields.role, `${name}.role`);
  const messages = fromAnthropic(fields) ?? [readMessage(value, name)];
  return messages.map((message) => ({
    message,
    isAgents: message.role === 'assistant',
    isCall: isCaller(role),
    // 0 excludes a message from fine-tuning; the agent said it nevertheless.
    step: {
      observation: undefined,
      action: undefined,
      ...(isMissing(fields.weight) ? {} : { info: json({ weight: fields.weight }) }),
    },
  }));
}

/** A message of OpenAI, or one of ms-swift, whose role `tool_call` has the call as content. */
function readMessage(value: unknown, name: string): WireMessage {
  const message = readChatMessage(value, name);
  const { role, content } = message;
  return {
    ...message,
    ...(typeof content === 'string' ? spokenMessage(role, content) : { role: toRole(role) }),
  };
}
