import { CONTEXT_UNKNOWN, findContext, findSequences } from '../contexts.js';
import type { StoredEpisode } from '../stored-episode.js';
import { toolsField } from '../tool-definitions.js';
import { trainerMessages } from '../trainer-messages.js';
import { type BuiltRow, type DatasetFormat, newRow, newRows, noRow, type RowPlan } from './dataset-format.js';
import { messages, text } from './parquet-columns.js';

/**
 * Conversations for supervised fine-tuning, in the conversational format of TRL's `SFTTrainer`: a chosen episode is a row with
 * `messages`, a chosen step a row with `prompt` and `completion`. An episode whose context was rewritten is a row for each conversation that
 * its model had. `tools` is JSON text in Parquet files.
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
    return step === null ? conversationRows(episode) : stepRow(episode, step);
  },
};

function conversationRows(episode: StoredEpisode): BuiltRow {
  const sequences = findSequences(episode);
  if (sequences.kind === 'unknown') return noRow(CONTEXT_UNKNOWN);
  if (sequences.value.length === 0) return noRow('the episode has no answer');
  return newRows(
    sequences.value.map(({ messages: said, tools }) => ({
      messages: trainerMessages(said),
      ...toolsField(tools),
    })),
  );
}

function stepRow(episode: StoredEpisode, step: number): BuiltRow {
  if (step >= episode.steps.length) return noRow('the episode has no such step');
  const context = findContext(episode, step);
  if (context.kind === 'unknown') return noRow(CONTEXT_UNKNOWN);
  const { prompt, output, tools } = context.value;
  if (output === null) return noRow('the step has no answer');
  return newRow({
    prompt: trainerMessages(prompt),
    completion: trainerMessages([output]),
    ...toolsField(tools),
  });
}
