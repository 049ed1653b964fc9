import type { Json } from '@retrace/trajectory';
import { type RecordedMessage, conversation } from '../stored-episode.js';
import { type DatasetFormat, newRow, noRow } from './dataset-format.js';
import { flag, float64, group, groups, text } from './parquet-columns.js';

const FROM: Readonly<Record<string, string>> = { assistant: 'gpt', system: 'system', developer: 'system' };

/**
 * Conversations as AgentGym's AgentTraj has them (`from`, `value`, `loss`), with the episode's reward and info beside them. `loss` is
 * true where the agent wrote, null elsewhere. The observation after the last action is the last entry, if there is one.
 */
export const conversations: DatasetFormat = {
  description: 'conversations {from, value, loss} with reward and info, as in AgentGym',
  withTokens: false,
  columns: [
    text('item_id'),
    groups('conversations', text('from'), text('value'), flag('loss')),
    float64('reward'),
    group('info', text('environment'), text('task'), flag('success'), text('end_reason'), text('agent')),
  ],
  plan: (episodes) =>
    episodes.map((episode) => ({ split: episode.split, members: [{ episode, step: null }] })),
  build({ members: [{ episode: selected }] }, [episode]) {
    if (episode.steps.length === 0) return noRow('the episode has no step');
    const { episodeId, environment, task, success, endReason, agent, finalObservation } = episode;
    const turns = conversation(episode).map(turnOf);
    if (finalObservation !== '') turns.push({ from: 'human', value: finalObservation, loss: null });
    return newRow({
      item_id: episodeId,
      conversations: turns,
      reward: selected.score,
      info: { environment, task, success, end_reason: endReason, agent },
    });
  },
};

function turnOf({ role, content, tool_calls: toolCalls }: RecordedMessage): Record<string, Json> {
  const from = FROM[role] ?? 'human';
  const calls = toolCalls === undefined || toolCalls === null ? '' : JSON.stringify(toolCalls);
  const value = typeof content === 'string' ? content : content === null ? '' : JSON.stringify(content);
  return {
    from,
    value: [value, calls].filter((part) => part !== '').join('\n'),
    loss: from === 'gpt' || null,
  };
}
