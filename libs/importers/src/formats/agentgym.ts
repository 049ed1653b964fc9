import { isJsonObject, type Json } from '@retrace/trajectory';
import { conversationRecords, type SpokenTurn } from '../conversation/conversation-steps.js';
import { rowInfo, spokenTurn } from '../conversation/spoken-turns.js';
import { asFields, asList, isMissing, json, known, looseJson, looseText, numberOrNull } from '../fields.js';
import { rowEpisodeId, type ImportFormat } from '../format.js';
import type { PlacedRow } from '../rows/group-rows.js';
import type { WireEpisode, WireRecord } from '@retrace/recording';

/**
 * Conversations of AgentGym: AgentTraj and OpenManus-RL with turns `{from, value}`, the rollout logs of AgentGym-RL with `{role, content}`. They end on
 * the agent's message, so the last observation is unknown, and only the logs of AgentGym-RL have a reward, the one of the last step. Trajectories
 * with `reward` and `info` in the turn after the agent's, as of OpenManus-RL's rollouts and of Retrace's export, have those of each step.
 */
export const agentgym: ImportFormat = {
  name: 'agentgym',
  description: 'AgentGym AgentTraj, OpenManus-RL and AgentGym-RL conversations',
  // The other columns of OpenManus-RL repeat the conversation three times.
  parquetColumns: ['item_id', 'id', 'data_source', 'conversations', 'ability', 'reward', 'info'],
  keyOf: null,
  detects: (row) =>
    isJsonObject(row) &&
    Array.isArray(row.conversations) &&
    (hasText(row.item_id) || hasTurnWith(row, 'loss') || hasTurnWith(row, 'info')),
  map: ([row], origin) => {
    const fields = asFields(row.value, 'row');
    const episode = rowEpisodeId(origin, row);
    const turns = asList(fields.conversations, 'conversations').map(readTurn);
    const { start: told, end } = rowInfo(looseJson(fields.info));
    const records = conversationRecords(episode, turns, end);
    const start = { ...readStart(fields, row, episode), ...told };
    // A row whose turns have rewards has their sum beside them.
    const hasRewards = records.some((record) => record.type === 'step' && record.reward !== undefined);
    return {
      episodes: [[start, ...(hasRewards ? records : withLastReward(records, fields.reward))]],
      skipped: [],
    };
  },
};

function readTurn(value: unknown, index: number): SpokenTurn {
  const turn = spokenTurn(value, index);
  const { loss } = asFields(value, 'turn');
  if (!turn.isAgents) return turn;
  return {
    ...turn,
    // The instructions are followed by a fixed "OK" of the agent, which nothing is learned from and no environment saw.
    isAgents: !(loss === false && index === 1),
    ...(isMissing(loss) || loss === true
      ? {}
      : { step: { ...turn.step, info: { ...asInfo(turn.step?.info), loss: json(loss) } } }),
  };
}

const asInfo = (info: Json | undefined): Readonly<Record<string, Json>> =>
  isJsonObject(info)
    ? (info as Readonly<Record<string, Json>>)
    : isMissing(info)
      ? {}
      : { environment: info };

function readStart(fields: ReturnType<typeof asFields>, row: PlacedRow, episode: string): WireEpisode {
  const itemId = looseText(fields.item_id) ?? looseText(fields.id);
  return known({
    type: 'episode' as const,
    episode,
    environment: looseText(fields.data_source) ?? parseEnvironment(itemId),
    task: itemId === undefined ? undefined : { itemId },
    metadata: json(known({ itemId, file: row.file, row: row.number, ability: looseText(fields.ability) })),
  });
}

/** The environment of an item such as `textcraft_12`; undefined where the id names none. */
function parseEnvironment(itemId: string | undefined): string | undefined {
  return itemId === undefined ? undefined : /^([a-z][a-z-]*)_\d+$/.exec(itemId)?.[1];
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

function hasTurnWith(row: ReturnType<typeof asFields>, field: string): boolean {
  return (row.conversations as unknown[]).some((turn) => isJsonObject(turn) && field in turn);
}
