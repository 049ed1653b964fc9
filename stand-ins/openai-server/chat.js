/** Answers of `POST /v1/chat/completions`. */

function usageOf({ usage }) {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

function finishReasonOf({ toolCalls, finishReason }) {
  return toolCalls.length > 0 ? 'tool_calls' : finishReason;
}

const shared = ({ n, model }) => ({ id: `chatcmpl-${n}`, created: 1_700_000_000, model });

export function chatCompletion(made) {
  const { content, reasoning, toolCalls } = made;
  const message = {
    role: 'assistant',
    content: content === '' && toolCalls.length > 0 ? null : content,
    refusal: null,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map(({ id, name, arguments: given }) => ({
        id,
        type: 'function',
        function: { name, arguments: given },
      })),
    }),
  };
  return {
    ...shared(made),
    object: 'chat.completion',
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasonOf(made) }],
    usage: usageOf(made),
  };
}

/** The answer as server-sent events: a delta for each word, arguments in two halves. */
export function chatChunks(made) {
  const { content, reasoning, toolCalls, body } = made;
  const chunk = (delta, finish_reason = null) => ({
    data: { ...shared(made), object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] },
  });
  const words = content.match(/\S+\s*/g) ?? [];
  return [
    chunk({ role: 'assistant', content: '' }),
    ...(reasoning === '' ? [] : [chunk({ reasoning_content: reasoning })]),
    ...words.map((word) => chunk({ content: word })),
    ...toolCalls.flatMap(({ id, name, arguments: given }, index) => {
      const half = Math.ceil(given.length / 2);
      return [
        chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: given.slice(0, half) } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: given.slice(half) } }] }),
      ];
    }),
    chunk({}, finishReasonOf(made)),
    ...(body.stream_options?.include_usage
      ? [{ data: { ...shared(made), object: 'chat.completion.chunk', choices: [], usage: usageOf(made) } }]
      : []),
    { data: '[DONE]' },
  ];
}
