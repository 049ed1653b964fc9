import { promptOf } from '../stored-episode.js';
import { type DatasetFormat, newRow, noRow, type RowPlan } from './dataset-format.js';
import { group, messages, text } from './parquet-columns.js';

/**
 * Prompts of steps in the row format of verl's `RLHFDataset`: `data_source`, `prompt`, `ability`, `reward_model`, `extra_info`. Of a
 * chosen episode its first prompt. The task is the ground truth, as JSON text, because it is what an environment is reset with.
 */
export const prompts: DatasetFormat = {
  description: 'the prompts of steps, in the rows of verl',
  withTokens: false,
  columns: [
    text('data_source'),
    messages('prompt'),
    text('ability'),
    group('reward_model', text('style'), text('ground_truth')),
    group('extra_info', text('split'), text('index'), text('run_id'), text('episode_id'), text('step')),
  ],
  plan: (episodes) =>
    episodes.flatMap((episode): RowPlan[] =>
      (episode.steps ?? [0]).map((step) => ({ split: episode.split, members: [{ episode, step }] })),
    ),
  build({ split, members: [{ step }] }, [episode]) {
    const at = step ?? 0;
    if (at >= episode.steps.length) return noRow('the episode has no such step');
    const { runId, episodeId, environment, task } = episode;
    return newRow({
      data_source: environment,
      prompt: promptOf(episode, at),
      ability: environment,
      reward_model: { style: 'rule', ground_truth: task },
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
