import { type EndReason, isJsonObject, type Json } from '@retrace/trajectory';
import {
  asFields,
  asText,
  type Fields,
  isMissing,
  json,
  looseJson,
  looseNumber,
  looseText,
  numberOrNull,
} from '../fields.js';
import type { WireEpisode } from '@retrace/recording';
import { type ConversationEnd, END_UNKNOWN, type SpokenTurn } from './conversation-steps.js';
import { isCaller, spokenMessage } from './roles.js';

/** Turns `{from, value, reward?, info?}` of AgentGym, OpenManus-RL and ShareGPT, or `{role, content}` of their logs. */
export function spokenTurn(value: unknown, index: number): SpokenTurn {
  const name = `conversations[${index}]`;
  const fields = asFields(value, name);
  const from = asText(fields.from ?? fields.role, `${name}.from`);
  const message = spokenMessage(from, asText(fields.value ?? fields.content, `${name}.value`));
  const reward = numberOrNull(fields.reward, `${name}.reward`);
  // Parquet files of ours have it as JSON.
  const info = looseJson(fields.info);
  const step = {
    ...(reward !== null && { reward }),
    ...(!isMissing(info) && { info: json(info) }),
  };
  return {
    message,
    isAgents: message.role === 'assistant',
    isCall: isCaller(from),
    ...(Object.keys(step).length > 0 && { step }),
  };
}

/** Facts of an episode that a row has in `info`, as Retrace's own export and OpenManus-RL's trajectories have it. */
export interface RowInfo {
  readonly start: Pick<WireEpisode, 'environment' | 'environmentSeed' | 'task' | 'agent'>;
  readonly end: ConversationEnd;
}

const END_REASONS: readonly string[] = ['terminated', 'truncated', 'abandoned'] satisfies EndReason[];

/** Reads the `info` of a row; what it does not say is unknown. */
export function rowInfo(value: unknown): RowInfo {
  const info: Fields = isJsonObject(value) ? value : {};
  const reason = looseText(info.end_reason);
  const success = typeof info.success === 'boolean' ? { success: info.success } : {};
  const detail = looseText(info.end_detail);
  const end =
    reason === undefined || !END_REASONS.includes(reason)
      ? { ...END_UNKNOWN, ...success }
      : { endReason: reason as EndReason, ...(detail !== undefined && { detail }), ...success };
  const task = looseJson(info.task);
  const environment = looseText(info.environment);
  const agent = looseText(info.agent);
  const environmentSeed = looseNumber(info.environment_seed);
  return {
    start: {
      ...(environment !== undefined && { environment }),
      ...(!isMissing(task) && { task: task as Json }),
      ...(agent !== undefined && { agent }),
      ...(environmentSeed !== undefined && { environmentSeed }),
    },
    end,
  };
}
