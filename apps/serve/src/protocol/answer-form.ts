import type { ChoiceDelta } from './choice-reader.js';
import type { LogprobsWriter } from './logprobs.js';

interface ChoiceContent {
  readonly index: number;
  readonly delta: ChoiceDelta;
  /** null: no logprobs were asked for. */
  readonly logprobs: LogprobsWriter | null;
}

/** How an API writes the choices of its answers. */
export interface AnswerForm {
  readonly idPrefix: string;
  readonly object: string;
  readonly chunkObject: string;
  /** Whether the tokens of the prompt belong to each choice, else to the answer. */
  readonly promptIdsInChoices: boolean;
  whole(content: ChoiceContent): object;
  /** @param isFirst whether the choice begins with this chunk */
  chunk(content: ChoiceContent, isFirst: boolean): object;
}

/** `/v1/chat/completions`. */
export const CHAT_FORM: AnswerForm = {
  idPrefix: 'chatcmpl',
  object: 'chat.completion',
  chunkObject: 'chat.completion.chunk',
  promptIdsInChoices: false,
  whole: ({ index, delta, logprobs }) => ({
    index,
    message: {
      role: 'assistant',
      content: delta.content === '' && delta.toolCalls.length > 0 ? null : delta.content,
      refusal: null,
      ...(delta.toolCalls.length > 0 && { tool_calls: delta.toolCalls }),
    },
    logprobs: logprobs && logprobs.chat(delta.columns),
    ...endFields(delta),
  }),
  chunk: ({ index, delta, logprobs }, isFirst) => ({
    index,
    delta: {
      ...(isFirst && { role: 'assistant' }),
      ...((isFirst || delta.content !== '') && { content: delta.content }),
      ...(delta.toolCalls.length > 0 && {
        tool_calls: delta.toolCalls.map((call, place) => ({ index: place, ...call })),
      }),
    },
    logprobs: logprobs && logprobs.chat(delta.columns),
    ...endFields(delta),
  }),
};

/** `/v1/completions`. */
export const COMPLETIONS_FORM: AnswerForm = {
  idPrefix: 'cmpl',
  object: 'text_completion',
  chunkObject: 'text_completion',
  promptIdsInChoices: true,
  whole: (content) => completionChoice(content),
  chunk: (content) => completionChoice(content),
};

function completionChoice({ index, delta, logprobs }: ChoiceContent): object {
  return {
    index,
    text: delta.content,
    logprobs: logprobs && logprobs.completions(delta.columns, delta.textOffset),
    ...endFields(delta),
  };
}

function endFields({ end }: ChoiceDelta): object {
  return { finish_reason: end?.finishReason ?? null, stop_reason: end?.stopReason ?? null };
}
