import { conversation, outputMessage, promptOf, toolsOf } from '../stored-episode.js';
import { type DatasetFormat, type DatasetRow, newRow, noRow, type RowPlan } from './dataset-format.js';
import { messages, text } from './parquet-columns.js';

/**
 * Conversations for supervised fine-tuning, in the conversational format of TRL's `SFTTrainer`: a chosen episode is a row with
 * `messages`, a chosen step a row with `prompt` and `completion`. `tools` is JSON text in Parquet files.
 */
export const sft: DatasetFormat = {
  description: 'messages of an episode, or prompt and completion of a step, for supervised fine-tuning',
  withTokens: false,
  columns: [messages('messages'), messages('prompt'), messages('completion'), text('tools')],
  plan: (episodes) =>
    episodes.flatMap((episode): RowPlan[] =>
      (episode.steps ?? [null]).map((step) => ({ split: episode.split, members: [{ episode, step }] })),
    ),
  build({ members: [{ step }] }, [episode]) {
    if (episode.steps.length === 0) return noRow('the episode has no step');
    const tools = toolsOf(episode);
    const withTools: DatasetRow = tools === null ? {} : { tools };
    if (step === null) return newRow({ messages: conversation(episode), ...withTools });
    if (step >= episode.steps.length) return noRow('the episode has no such step');
    return newRow({
      prompt: promptOf(episode, step),
      completion: [outputMessage(episode.steps[step])],
      ...withTools,
    });
  },
};
