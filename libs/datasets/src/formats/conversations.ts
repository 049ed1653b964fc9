import { writeJson } from '@retrace/rows';
import type { Json } from '@retrace/trajectory';
import { CONTEXT_UNKNOWN, type Sequence, findSequences } from '../contexts.js';
import type { EpisodeFacts, RecordedMessage, StoredEpisode, StoredStep } from '../stored-episode.js';
import { type DatasetFormat, newRows, noRow } from './dataset-format.js';
import { flag, float64, group, groups, text } from './parquet-columns.js';

const FROM: Readonly<Record<string, string>> = { assistant: 'gpt', system: 'system', developer: 'system' };

/**
 * Conversations as AgentGym's AgentTraj has them (`from`, `value`, `loss`), with the episode's reward and info beside them. `loss` is
 * true where the agent wrote, null elsewhere. The turn after the agent's has the `reward` and `info` of its step, as in the trajectories of
 * OpenManus-RL; the agent's own turn where none follows. The observation after the last action is the last entry, if there is one.
 */
export const conversations: DatasetFormat = {
  description: 'conversations {from, value, loss, reward, info} with reward and info, as in AgentGym',
  withTokens: false,
  withDetails: true,
  columns: [
    text('item_id'),
    groups('conversations', text('from'), text('value'), flag('loss'), float64('reward'), text('info')),
    float64('reward'),
    group(
      'info',
      text('environment'),
      float64('environment_seed'),
      text('task'),
      flag('success'),
      text('end_reason'),
      text('end_detail'),
      text('agent'),
    ),
  ],
  plan: (episodes) =>
    episodes.map((episode) => ({ split: episode.split, members: [{ episode, step: null }] })),
  build({ members: [{ episode: selected }] }, [episode]) {
    if (episode.steps.length === 0) return noRow('the episode has no step');
    const sequences = findSequences(episode);
    if (sequences.kind === 'unknown') return noRow(CONTEXT_UNKNOWN);
    if (sequences.value.length === 0) return noRow('the episode has no answer');
    const { environment, environmentSeed, task, success, endReason, endDetail, agent } = episode;
    const info = {
      ...{ environment, environment_seed: environmentSeed, task, success },
      ...{ end_reason: endReason, end_detail: endDetail, agent },
    };
    return newRows(
      sequences.value.map((sequence) => ({
        item_id: toItemId(episode),
        conversations: listTurns(sequence, episode),
        reward: selected.score,
        info,
      })),
    );
  },
};

/** The id of an item, whose number after the last `_` AgentGym reads as the index of the task. */
function toItemId({ episodeId, environment, environmentSeed, task }: EpisodeFacts): string {
  const { itemId, index } = (JSON.parse(task) ?? {}) as { readonly itemId?: Json; readonly index?: Json };
  if (typeof itemId === 'string') return itemId;
  const number = typeof index === 'number' ? index : environmentSeed;
  return environment === '' || number === null ? episodeId : `${environment}_${number}`;
}

type Turn = Record<string, Json>;

function listTurns(
  { messages, answers, isLast }: Sequence,
  { finalObservation, steps }: StoredEpisode,
): Turn[] {
  const turns = messages.map(toTurn);
  if (isLast && finalObservation !== '') turns.push({ from: 'human', value: finalObservation, loss: null });
  for (const { step, at } of answers) Object.assign(turns[at + 1] ?? turns[at], toOutcome(steps[step]));
  return turns;
}

/** Reward and info of a step, as far as they are known. */
function toOutcome({ reward, details }: StoredStep): Turn {
  const info = details?.info ?? null;
  return { ...(reward !== null && { reward }), ...(info !== null && { info }) };
}

function toTurn({ role, content, tool_calls: toolCalls }: RecordedMessage): Turn {
  const from = FROM[role] ?? 'human';
  const calls = toolCalls === undefined || toolCalls === null ? '' : writeJson(toolCalls);
  const value = typeof content === 'string' ? content : content === null ? '' : writeJson(content);
  return {
    from,
    value: [value, calls].filter((part) => part !== '').join('\n'),
    loss: from === 'gpt' || null,
  };
}
