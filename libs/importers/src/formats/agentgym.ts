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
  looseText,
  numberOrNull,
} from '../fields.js';
import { rowEpisodeId, type ImportFormat } from '../format.js';
import type { PlacedRow } from '../rows/group-rows.js';
import type { WireEpisode, WireRecord } from '@retrace/recording';

/**
 * Conversations of AgentGym: AgentTraj and OpenManus-RL with turns `{from, value}`, the rollout logs of AgentGym-RL with `{role, content}`. They end on the agent's message, so the last
 * observation is unknown; only the logs of AgentGym-RL have a reward, the one of the last step.
 */
export const agentgym: ImportFormat = {
  name: 'agentgym',
  description: 'AgentGym AgentTraj, OpenManus-RL and AgentGym-RL conversations',
  // The other columns of OpenManus-RL repeat the conversation three times.
  parquetColumns: ['item_id', 'id', 'data_source', 'conversations', 'ability', 'reward'],
  keyOf: null,
  detects: (row) =>
    isFields(row) && Array.isArray(row.conversations) && (hasText(row.item_id) || hasLoss(row)),
  map: ([row], origin) => {
    const fields = asFields(row.value, 'row');
    const episode = rowEpisodeId(origin, row);
    const turns = asList(fields.conversations, 'conversations').map(turnOf);
    const records = conversationRecords(episode, turns, END_UNKNOWN);
    const start = startOf(fields, row, episode);
    return { episodes: [[start, ...withLastReward(records, fields.reward)]], skipped: [] };
  },
};

function turnOf(value: unknown, index: number): SpokenTurn {
  const name = `conversations[${index}]`;
  const fields = asFields(value, name);
  const from = asText(fields.from ?? fields.role, `${name}.from`);
  const message = spokenMessage(from, asText(fields.value ?? fields.content, `${name}.value`));
  const { loss } = fields;
  return {
    message,
    // The instructions are followed by a fixed "OK" of the agent, which nothing is learned from and no environment saw.
    isAgents: message.role === 'assistant' && !(loss === false && index === 1),
    ...(isMissing(loss) || loss === true ? {} : { step: { info: json({ loss }) } }),
  };
}

function startOf(fields: ReturnType<typeof asFields>, row: PlacedRow, episode: string): WireEpisode {
  const itemId = looseText(fields.item_id) ?? looseText(fields.id);
  return known({
    type: 'episode' as const,
    episode,
    environment: looseText(fields.data_source) ?? environmentOf(itemId),
    task: itemId === undefined ? undefined : { itemId },
    metadata: json(known({ itemId, file: row.file, row: row.number, ability: looseText(fields.ability) })),
  });
}

/** The environment of an item such as `textcraft_12`; undefined where the id names none. */
function environmentOf(itemId: string | undefined): string | undefined {
  return itemId === undefined ? undefined : /^([a-z][a-z]*)_\d+$/.exec(itemId)?.[1];
}

/** AgentGym's reward of an episode is the one of its last step, never a sum. */
function withLastReward(records: readonly WireRecord[], given: unknown): WireRecord[] {
  const reward = numberOrNull(given, 'reward');
  const last = records.length - 2;
  return records.map((record, index) =>
    reward !== null && index === last && record.type === 'step' ? { ...record, reward } : record,
  );
}

function hasText(value: unknown): boolean {
  return typeof value === 'string';
}

function hasLoss(row: ReturnType<typeof asFields>): boolean {
  return (row.conversations as unknown[]).some((turn) => isFields(turn) && 'loss' in turn);
}
