import { newToolCall } from '../conversation/chat-message.js';
import {
  conversationRecords,
  END_UNKNOWN,
  newMessage,
  type SpokenTurn,
} from '../conversation/conversation-steps.js';
import {
  asFields,
  asList,
  asText,
  isFields,
  isMissing,
  json,
  known,
  looseJson,
  looseText,
  numberOrNull,
} from '../fields.js';
import { rowEpisodeId, type ImportFormat } from '../format.js';
import type { WireMessage } from '@retrace/recording';

const ROLES: ReadonlyMap<string, string> = new Map([
  ['human', 'user'],
  ['user', 'user'],
  ['gpt', 'assistant'],
  ['chatgpt', 'assistant'],
  ['bing', 'assistant'],
  ['bard', 'assistant'],
  ['model', 'assistant'],
  ['assistant', 'assistant'],
  ['function_call', 'assistant'],
  ['system', 'system'],
  ['observation', 'tool'],
  ['function_response', 'tool'],
  ['tool', 'tool'],
]);

/** ShareGPT conversations: `{id?, conversations: [{from, value}], system?, tools?}`; a turn may have a `reward`, as in Retrace's own export. */
export const sharegpt: ImportFormat = {
  name: 'sharegpt',
  description: 'ShareGPT conversations',
  parquetColumns: null,
  keyOf: null,
  detects: (row) => isFields(row) && Array.isArray(row.conversations) && !('item_id' in row),
  map: ([row], origin) => {
    const fields = asFields(row.value, 'row');
    const episode = rowEpisodeId(origin, row);
    const system = looseText(fields.system);
    const turns: SpokenTurn[] = [
      ...(system === undefined ? [] : [{ message: { role: 'system', content: system }, isAgents: false }]),
      ...asList(fields.conversations, 'conversations').map(turnOf),
    ];
    const metadata = known({
      id: fields.id ?? undefined,
      tools: looseJson(fields.tools ?? undefined),
      source: looseText(fields.source),
      file: row.file,
      row: row.number,
    });
    const start = known({
      type: 'episode' as const,
      episode,
      environment: looseText(fields.environment),
      task: isMissing(fields.task) ? undefined : json(fields.task),
      environmentSeed: numberOrNull(fields.environment_seed, 'environment_seed') ?? undefined,
      groupMember: undefined,
      metadata: json(metadata),
    });
    return { episodes: [[start, ...conversationRecords(episode, turns, END_UNKNOWN)]], skipped: [] };
  },
};

function turnOf(value: unknown, index: number): SpokenTurn {
  const name = `conversations[${index}]`;
  const fields = asFields(value, name);
  const from = asText(fields.from ?? fields.role, `${name}.from`);
  const text = asText(fields.value ?? fields.content, `${name}.value`);
  const reward = numberOrNull(fields.reward, `${name}.reward`);
  const role = ROLES.get(from) ?? from;
  return {
    message: from === 'function_call' ? callMessage(text) : { role, content: text },
    isAgents: role === 'assistant',
    ...(reward === null ? {} : { step: { reward } }),
  };
}

/** A `function_call` turn has the call, or a list of calls, as JSON: `{name, arguments}`. */
function callMessage(text: string): WireMessage {
  const parsed = looseJson(text);
  const calls = (Array.isArray(parsed) ? parsed : [parsed]).filter(isFields);
  const toolCalls = calls.flatMap(({ name, arguments: given, id }) =>
    typeof name === 'string' ? [newToolCall({ id: looseText(id) ?? '', name, given })] : [],
  );
  return newMessage({
    role: 'assistant',
    content: toolCalls.length === 0 ? text : null,
    tool_calls: toolCalls.length === 0 ? undefined : toolCalls,
  });
}
