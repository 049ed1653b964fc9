/** Answers of Anthropic's `POST /v1/messages`. */

/** The parts of a request that a model sees, by the shape of Anthropic's messages. */
export function readMessages({ system, messages, tools = [] }) {
  const blocks = messages.flatMap(({ role, content }) =>
    typeof content === 'string'
      ? [{ role, type: 'text', text: content }]
      : content.map((block) => ({ role, ...block })),
  );
  const texts = blocks.filter(({ role, type }) => role === 'user' && type === 'text');
  const results = blocks.filter(({ type }) => type === 'tool_result');
  return {
    input: [...(system === undefined ? [] : [{ role: 'system', content: system }]), ...messages],
    question: texts.at(-1)?.text ?? '',
    toolResults: results.map(({ content }) => blockText(content)),
    toolNames: tools.map(({ name }) => name),
  };
}

function blockText(content) {
  return Array.isArray(content) ? content.map(({ text }) => text ?? '').join('') : (content ?? '');
}

function usageOf({ usage }) {
  return {
    input_tokens: usage.input - usage.cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cached,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: usage.output,
    service_tier: 'standard',
  };
}

function contentBlocks({ reasoning, content, toolCalls }) {
  return [
    ...(reasoning === '' ? [] : [{ type: 'thinking', thinking: reasoning, signature: 'c2lnbmF0dXJl' }]),
    ...(content === '' ? [] : [{ type: 'text', text: content }]),
    ...toolCalls.map(({ id, name, arguments: given }) => ({
      type: 'tool_use',
      id: id.replace(/^call_/, 'toolu_'),
      name,
      input: JSON.parse(given),
    })),
  ];
}

function stopReasonOf({ toolCalls, finishReason }) {
  if (toolCalls.length > 0) return 'tool_use';
  return finishReason === 'length' ? 'max_tokens' : 'end_turn';
}

export function messageObject(made) {
  return {
    id: `msg_${made.n}`,
    type: 'message',
    role: 'assistant',
    model: made.model,
    content: contentBlocks(made),
    stop_reason: stopReasonOf(made),
    stop_sequence: null,
    usage: usageOf(made),
  };
}

/** The answer as server-sent events, with a ping as the real server sends it. */
export function messageEvents(made) {
  const message = messageObject(made);
  const { usage } = message;
  const begun = { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  const events = [
    { type: 'message_start', message: begun },
    ...message.content.flatMap((block, index) => [
      ...blockEvents(block).map((event) => ({ index, ...event })),
      ...(index === 0 ? [{ type: 'ping' }] : []),
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: message.stop_reason, stop_sequence: null },
      usage: { output_tokens: usage.output_tokens },
    },
    { type: 'message_stop' },
  ];
  return events.map((event) => ({ event: event.type, data: event }));
}

function blockEvents(block) {
  const { start, deltas } = piecesOf(block);
  return [
    { type: 'content_block_start', content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', delta })),
    { type: 'content_block_stop' },
  ];
}

function piecesOf(block) {
  if (block.type === 'text') {
    const words = block.text.match(/\S+\s*/g) ?? [];
    return {
      start: { type: 'text', text: '' },
      deltas: words.map((text) => ({ type: 'text_delta', text })),
    };
  }
  if (block.type === 'thinking') {
    return {
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        { type: 'thinking_delta', thinking: block.thinking },
        { type: 'signature_delta', signature: block.signature },
      ],
    };
  }
  const json = JSON.stringify(block.input);
  const half = Math.ceil(json.length / 2);
  return {
    start: { ...block, input: {} },
    deltas: ['', json.slice(0, half), json.slice(half)].map((partial_json) => ({
      type: 'input_json_delta',
      partial_json,
    })),
  };
}

const ERROR_TYPES = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

export function messageError(status, message) {
  return {
    type: 'error',
    error: { type: ERROR_TYPES[status] ?? 'api_error', message },
    request_id: 'req_test',
  };
}
