import { conversationRecords, END_UNKNOWN, type SpokenTurn } from '../conversation/conversation-steps.js';
import { spokenMessage } from '../conversation/roles.js';
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
  const message = spokenMessage(from, text);
  return {
    message,
    isAgents: message.role === 'assistant',
    ...(reward === null ? {} : { step: { reward } }),
  };
}
