/** Answers of `POST /v1/responses`. */

export function responseObject(made, status = made.finishReason === 'length' ? 'incomplete' : 'completed') {
  const { n, model, body, usage } = made;
  const isDone = status !== 'in_progress';
  return {
    id: `resp_${n}`,
    object: 'response',
    created_at: 1_700_000_000,
    status,
    background: false,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    model,
    output: isDone ? outputItems(made) : [],
    parallel_tool_calls: true,
    previous_response_id: body.previous_response_id ?? null,
    reasoning: { effort: null, summary: null },
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: { format: { type: 'text' } },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: body.top_p ?? 1,
    truncation: 'disabled',
    usage: isDone
      ? {
          input_tokens: usage.input,
          input_tokens_details: { cached_tokens: usage.cached },
          output_tokens: usage.output,
          output_tokens_details: { reasoning_tokens: usage.reasoning },
          total_tokens: usage.input + usage.output,
        }
      : null,
    user: null,
  };
}

function outputItems({ n, content, reasoning, toolCalls }) {
  return [
    ...(reasoning === ''
      ? []
      : [{ id: `rs_${n}`, type: 'reasoning', summary: [{ type: 'summary_text', text: reasoning }] }]),
    ...(content === ''
      ? []
      : [
          {
            id: `msg_${n}`,
            type: 'message',
            status: 'completed',
            role: 'assistant',
            content: [{ type: 'output_text', annotations: [], logprobs: [], text: content }],
          },
        ]),
    ...toolCalls.map(({ id, name, arguments: given }, i) => ({
      id: `fc_${n}_${i}`,
      type: 'function_call',
      status: 'completed',
      call_id: id,
      name,
      arguments: given,
    })),
  ];
}

/** The answer as server-sent events, numbered. */
export function responseEvents(made) {
  const events = [
    { type: 'response.created', response: responseObject(made, 'in_progress') },
    { type: 'response.in_progress', response: responseObject(made, 'in_progress') },
    ...outputItems(made).flatMap(itemEvents),
  ];
  const final = responseObject(made);
  events.push({ type: `response.${final.status}`, response: final });
  return events.map((event, i) => ({ event: event.type, data: { ...event, sequence_number: i } }));
}

function itemEvents(item, output_index) {
  const at = { item_id: item.id, output_index };
  const added = { type: 'response.output_item.added', output_index, item: emptied(item) };
  const done = { type: 'response.output_item.done', output_index, item };
  return [added, ...contentEvents(item, at), done];
}

function emptied(item) {
  if (item.type === 'message') return { ...item, status: 'in_progress', content: [] };
  if (item.type === 'reasoning') return { ...item, summary: [] };
  return { ...item, status: 'in_progress', arguments: '' };
}

function contentEvents(item, at) {
  if (item.type === 'function_call') {
    return [
      { type: 'response.function_call_arguments.delta', ...at, delta: item.arguments },
      { type: 'response.function_call_arguments.done', ...at, name: item.name, arguments: item.arguments },
    ];
  }
  if (item.type === 'reasoning') {
    const [{ text }] = item.summary;
    const part = { ...at, summary_index: 0 };
    return [
      { type: 'response.reasoning_summary_part.added', ...part, part: { type: 'summary_text', text: '' } },
      { type: 'response.reasoning_summary_text.delta', ...part, delta: text },
      { type: 'response.reasoning_summary_text.done', ...part, text },
      { type: 'response.reasoning_summary_part.done', ...part, part: { type: 'summary_text', text } },
    ];
  }
  const [content] = item.content;
  const part = { ...at, content_index: 0 };
  return [
    { type: 'response.content_part.added', ...part, part: { ...content, text: '' } },
    ...(content.text.match(/\S+\s*/g) ?? []).map((delta) => ({
      type: 'response.output_text.delta',
      ...part,
      delta,
      logprobs: [],
    })),
    { type: 'response.output_text.done', ...part, text: content.text, logprobs: [] },
    { type: 'response.content_part.done', ...part, part: content },
  ];
}
