import type { Json } from '@retrace/trajectory';
import { CONTEXT_UNKNOWN, findContext } from '../contexts.js';
import { toolsField } from '../tool-definitions.js';
import { trainerMessages } from '../trainer-messages.js';
import { type DatasetFormat, newRow, noRow, type RowPlan } from './dataset-format.js';
import { group, messages, text } from './parquet-columns.js';

/**
 * Prompts of steps in the row format of verl's `RLHFDataset`: `data_source`, `prompt`, `ability`, `reward_model`, `extra_info`. Of a
 * chosen episode its first prompt. The task is the ground truth, as JSON text, because it is what an environment is reset with; an episode
 * without a task has no `reward_model`.
 */
export const prompts: DatasetFormat = {
  description: 'the prompts of steps, in the rows of verl',
  withTokens: false,
  columns: [
    text('data_source'),
    messages('prompt'),
    text('ability'),
    group('reward_model', text('style'), text('ground_truth')),
    text('tools'),
    group('extra_info', text('split'), text('index'), text('run_id'), text('episode_id'), text('step')),
  ],
  plan: (episodes) =>
    episodes.flatMap((episode): RowPlan[] =>
      (episode.steps ?? [0]).map((step) => ({ split: episode.split, members: [{ episode, step }] })),
    ),
  build({ split, members: [{ step }] }, [episode]) {
    const at = step ?? 0;
    if (at >= episode.steps.length) return noRow('the episode has no such step');
    const context = findContext(episode, at);
    if (context.kind === 'unknown') return noRow(CONTEXT_UNKNOWN);
    const { prompt, tools } = context.value;
    if (prompt.length === 0) return noRow('the step has no prompt');
    const { runId, episodeId, environment, task } = episode;
    return newRow({
      data_source: environment,
      prompt: trainerMessages(prompt),
      ability: environment,
      ...(hasGroundTruth(task) && { reward_model: { style: 'rule', ground_truth: task } }),
      ...toolsField(tools),
      extra_info: {
        split,
        index: `${episodeId}/${at}`,
        run_id: runId,
        episode_id: episodeId,
        step: String(at),
      },
    });
  },
};

/** A recorder that knows no task leaves null or {}, which is no answer that a reward function could compare with. */
function hasGroundTruth(task: string): boolean {
  const value = JSON.parse(task) as Json;
  return value !== null && value !== '' && !(typeof value === 'object' && Object.keys(value).length === 0);
}
