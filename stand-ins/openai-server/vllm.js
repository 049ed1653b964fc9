/**
 * Answers as vLLM gives them, with the shapes of vLLM 0.32: token ids and log-probabilities when they are asked for. A token is a word with
 * the space before it; the chat template renders an answer again exactly as it was sampled, so that a conversation's prompts
 * extend one another.
 */
const FINGERPRINT = 'vllm-0.32.0-28f19fd9';
const IM_START = '<|im_start|>';
const IM_END = '<|im_end|>';

/** A word with the spaces before it, a line's end, or a special token. */
const PIECE = /<\|im_(?:start|end)\|>|\n|[^\S\n]*[^\s<]+|[^\S\n]*<(?!\|im_)|[^\S\n]+/g;

/** A vocabulary that grows with the texts it has seen. */
export class Vocabulary {
  ids = new Map();

  /** @param {string} text @returns {{ id: number, text: string }[]} */
  tokenize(text) {
    const pieces = text.match(PIECE) ?? [];
    return pieces.map((piece) => {
      if (!this.ids.has(piece)) this.ids.set(piece, this.ids.size);
      return { id: this.ids.get(piece), text: piece };
    });
  }
}

/** Renders messages as a chat template does, up to where the assistant begins. */
export function renderChat(messages) {
  const turns = messages.map(
    (message) =>
      `${IM_START}${message.role}\n${sampledText(message)}${message.role === 'assistant' ? '' : IM_END}\n`,
  );
  return `${turns.join('')}${IM_START}assistant\n`;
}

/** Text of a message; that of an assistant is what it sampled, its end included. */
function sampledText({ role, content, tool_calls = [] }) {
  const text = Array.isArray(content) ? content.map((part) => part.text ?? '').join('') : (content ?? '');
  if (role !== 'assistant') return text;
  return textOfAnswer(
    text,
    (tool_calls ?? []).map(({ function: called }) => called),
    true,
  );
}

function textOfAnswer(content, calls, ends) {
  const asked = calls.map(({ name, arguments: given }) => `\n<tool_call>${name} ${given}</tool_call>`);
  return `${content}${asked.join('')}${ends ? IM_END : ''}`;
}

/** Tokens of an answer: `{ prompt, sampled }`, each sampled one with its log-probability. */
export function tokensOf(vocabulary, { api, body, content, toolCalls, finishReason, n }) {
  const isChat = api === 'chat';
  const { prompt } = body;
  const promptIds = isChat
    ? vocabulary.tokenize(renderChat(body.messages)).map(({ id }) => id)
    : Array.isArray(prompt)
      ? prompt
      : vocabulary.tokenize(prompt).map(({ id }) => id);
  const text = isChat ? textOfAnswer(content, toolCalls, finishReason === 'stop') : content;
  const sampled = vocabulary
    .tokenize(text)
    .map(({ id, text: token }, i) => ({ id, token, logprob: -(((id * 31 + i * 7 + n) % 97) + 1) / 64 }));
  return { promptIds, sampled };
}

function usageOf({ tokens: { promptIds, sampled } }) {
  return {
    prompt_tokens: promptIds.length,
    total_tokens: promptIds.length + sampled.length,
    completion_tokens: sampled.length,
    prompt_tokens_details: null,
    completion_tokens_details: null,
  };
}

function nameOf({ token, id }, { body }) {
  return body.return_tokens_as_token_ids ? `token_id:${id}` : token;
}

function chatLogprobs(sampled, made) {
  if (made.body.logprobs !== true) return null;
  const entry = (one) => {
    const token = nameOf(one, made);
    return { token, logprob: one.logprob, bytes: [...new TextEncoder().encode(token)] };
  };
  return {
    content: sampled.map((one) => ({
      ...entry(one),
      top_logprobs: (made.body.top_logprobs ?? 0) > 0 ? [entry(one)] : [],
    })),
  };
}

function textLogprobs(sampled, made, from = 0) {
  if (typeof made.body.logprobs !== 'number') return null;
  let offset = from;
  const offsets = sampled.map(({ token }) => (offset += token.length) - token.length);
  const tokens = sampled.map((one) => nameOf(one, made));
  return {
    text_offset: offsets,
    token_logprobs: sampled.map(({ logprob }) => logprob),
    tokens,
    top_logprobs: sampled.map(({ logprob }, i) => ({ [tokens[i]]: logprob })),
  };
}

const given = (made, ids) => (made.body.return_token_ids ? ids : null);
const idsOf = (sampled) => sampled.map(({ id }) => id);

function chatMessage({ content, reasoning, toolCalls }) {
  return {
    role: 'assistant',
    content: content === '' && toolCalls.length > 0 ? null : content,
    refusal: null,
    annotations: null,
    audio: null,
    function_call: null,
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map(({ id, name, arguments: args }) => ({
        id,
        type: 'function',
        function: { name, arguments: args },
      })),
    }),
    reasoning: reasoning === '' ? null : reasoning,
  };
}

const headOf = (made, object) => ({
  id: `${made.api === 'chat' ? 'chatcmpl' : 'cmpl'}-${made.id}`,
  object,
  created: 1_795_234_742,
  model: made.model,
});
const TAIL = { kv_transfer_params: null, ec_transfer_params: null, metrics: null };

export function vllmChatCompletion(made) {
  const { promptIds, sampled } = made.tokens;
  return {
    ...headOf(made, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: chatMessage(made),
        logprobs: chatLogprobs(sampled, made),
        finish_reason: made.toolCalls.length > 0 ? 'tool_calls' : made.finishReason,
        stop_reason: null,
        token_ids: given(made, idsOf(sampled)),
        routed_experts: null,
      },
    ],
    service_tier: null,
    system_fingerprint: FINGERPRINT,
    usage: usageOf(made),
    prompt_logprobs: null,
    prompt_token_ids: given(made, promptIds),
    prompt_text: null,
    ...TAIL,
  };
}

export function vllmCompletion(made) {
  const { promptIds, sampled } = made.tokens;
  return {
    ...headOf(made, 'text_completion'),
    choices: [
      {
        index: 0,
        text: made.content,
        logprobs: textLogprobs(sampled, made),
        finish_reason: made.finishReason,
        stop_reason: null,
        token_ids: given(made, idsOf(sampled)),
        prompt_logprobs: null,
        prompt_token_ids: given(made, promptIds),
        routed_experts: null,
      },
    ],
    service_tier: null,
    system_fingerprint: FINGERPRINT,
    usage: usageOf(made),
    ...TAIL,
  };
}

/** The answer as server-sent events, a token each; the ids of the prompt are in the first one, the fingerprint in the last. */
export function vllmEvents(made) {
  const chunks = made.api === 'chat' ? chatChunks(made) : textChunks(made);
  const { prompt_tokens_details, completion_tokens_details, ...usage } = usageOf(made);
  const counts = { ...headOf(made, chunks[0].object), choices: [], usage };
  const sent = made.body.stream_options?.include_usage ? [...chunks, counts] : chunks;
  const last = { ...sent.at(-1), system_fingerprint: FINGERPRINT };
  return [...[...sent.slice(0, -1), last].map((data) => ({ data })), { data: '[DONE]' }];
}

function chatChunks(made) {
  const { promptIds, sampled } = made.tokens;
  const { toolCalls, reasoning } = made;
  const head = headOf(made, 'chat.completion.chunk');
  const deltas = deltasOf(made);
  const last = deltas.length - 1;
  const finish = toolCalls.length > 0 ? 'tool_calls' : made.finishReason;
  const first = { index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null };
  const thought = { ...first, delta: { reasoning } };
  return [
    { ...head, choices: [first], prompt_token_ids: given(made, promptIds), prompt_text: null },
    ...(reasoning === '' ? [] : [{ ...head, choices: [thought] }]),
    ...deltas.map(({ delta, from, to }, i) => ({
      ...head,
      choices: [
        {
          index: 0,
          delta,
          logprobs: chatLogprobs(sampled.slice(from, to), made),
          finish_reason: i === last ? finish : null,
          ...(i === last && { stop_reason: null }),
          token_ids: given(made, idsOf(sampled.slice(from, to))),
        },
      ],
    })),
  ];
}

/** Deltas with the tokens that they hold: a word each, then each call, then the end. */
function deltasOf({ tokens: { sampled }, content, toolCalls }) {
  const deltas = [];
  let length = 0;
  let from = 0;
  while (length < content.length) {
    const { token } = sampled[from];
    deltas.push({ delta: { content: token }, from, to: ++from });
    length += token.length;
  }
  toolCalls.forEach(({ id, name, arguments: args }, index) => {
    const called = { id, type: 'function', index, function: { name, arguments: args } };
    deltas.push({ delta: { tool_calls: [called] }, from, to: from });
  });
  return [...deltas, { delta: { content: '' }, from, to: sampled.length }];
}

function textChunks(made) {
  const { promptIds, sampled } = made.tokens;
  const head = headOf(made, 'text_completion');
  let offset = 0;
  return sampled.map((one, i) => {
    const isLast = i === sampled.length - 1;
    const logprobs = textLogprobs([one], made, offset);
    offset += one.token.length;
    const choice = {
      index: 0,
      text: one.token,
      logprobs,
      finish_reason: isLast ? made.finishReason : null,
      stop_reason: null,
      prompt_token_ids: i === 0 ? given(made, promptIds) : null,
      token_ids: given(made, [one.id]),
    };
    return { ...head, choices: [choice] };
  });
}

export function vllmError(status, message) {
  const type = status >= 500 ? 'InternalServerError' : 'BadRequestError';
  return { error: { message, type, param: null, code: status } };
}
