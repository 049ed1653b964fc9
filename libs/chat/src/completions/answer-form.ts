import type { ToolCall } from '@retrace/client';
import type { LogprobsWriter, WrittenTokens } from './logprobs-writer.js';

/** Why a choice ended. */
export interface ChoiceEnd {
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
  /** The stop string, or the stop token of the request, that ended it; null for others. */
  readonly stopReason: string | number | null;
}

/** Addition of new tokens to a choice. */
export interface ChoiceAddition {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  readonly columns: WrittenTokens;
  /** Characters of the choice before `content`. */
  readonly textOffset: number;
  readonly end: ChoiceEnd | null;
}

interface ChoiceContent {
  readonly index: number;
  readonly delta: ChoiceAddition;
  /** null: no logprobs were asked for. */
  readonly logprobs: LogprobsWriter | null;
}

/** Writes the choices of answers as an API has them. */
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

function endFields({ end }: ChoiceAddition): object {
  return { finish_reason: end?.finishReason ?? null, stop_reason: end?.stopReason ?? null };
}
