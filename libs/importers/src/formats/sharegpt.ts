import { isJsonObject } from '@retrace/trajectory';
import { conversationRecords, type SpokenTurn } from '../conversation/conversation-steps.js';
import { rowInfo, spokenTurn } from '../conversation/spoken-turns.js';
import { asFields, asList, isMissing, json, known, looseJson, looseText, numberOrNull } from '../fields.js';
import { rowEpisodeId, type ImportFormat } from '../format.js';

/** ShareGPT conversations: `{id?, conversations: [{from, value}], system?, tools?}`; a turn may have a `reward`, as in Retrace's own export. */
export const sharegpt: ImportFormat = {
  name: 'sharegpt',
  description: 'ShareGPT conversations',
  parquetColumns: null,
  keyOf: null,
  detects: (row) => isJsonObject(row) && Array.isArray(row.conversations) && !('item_id' in row),
  map: ([row], origin) => {
    const fields = asFields(row.value, 'row');
    const episode = rowEpisodeId(origin, row);
    const system = looseText(fields.system);
    const turns: SpokenTurn[] = [
      ...(system === undefined ? [] : [{ message: { role: 'system', content: system }, isAgents: false }]),
      ...asList(fields.conversations, 'conversations').map(spokenTurn),
    ];
    const metadata = known({
      id: fields.id ?? undefined,
      tools: looseJson(fields.tools ?? undefined),
      source: looseText(fields.source),
      file: row.file,
      row: row.number,
    });
    const told = rowInfo(looseJson(fields.info));
    const start = known({
      type: 'episode' as const,
      episode,
      environment: looseText(fields.environment),
      task: isMissing(fields.task) ? undefined : json(fields.task),
      environmentSeed: numberOrNull(fields.environment_seed, 'environment_seed') ?? undefined,
      groupMember: undefined,
      metadata: json(metadata),
      ...told.start,
    });
    return { episodes: [[start, ...conversationRecords(episode, turns, told.end)]], skipped: [] };
  },
};
