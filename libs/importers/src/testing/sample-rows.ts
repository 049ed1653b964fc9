import type { FormatName } from '../format.js';

/** Small rows of each format as their tools write them: names, types and nesting are real, values made up. */
export const SAMPLE_ROWS: Readonly<Record<FormatName, readonly unknown[]>> = {
  agentgym: [
    {
      item_id: 'babyai_7',
      conversations: [
        { from: 'human', loss: null, value: 'Act in the room.' },
        { from: 'gpt', loss: false, value: "OK. I'll follow your instructions." },
        { from: 'human', loss: null, value: 'Your goal: go to the red ball' },
        { from: 'gpt', loss: true, value: 'Thought:\nnear\n\nAction:\ngo to red ball 1' },
        { from: 'human', loss: null, value: 'You are at it.' },
        { from: 'gpt', loss: true, value: 'Thought:\ntake\n\nAction:\npickup red ball 1' },
      ],
    },
    {
      item_id: 'textcraft_12',
      reward: 1.0,
      conversations: [
        { role: 'user', content: 'Craft a stick.' },
        { role: 'assistant', content: 'Action: get 1 oak planks' },
        { role: 'user', content: 'Got 1 oak planks' },
        { role: 'assistant', content: 'Action: craft 4 stick using 2 planks' },
      ],
    },
  ],
  sharegpt: [
    {
      id: 'chat-1',
      system: 'Be brief.',
      tools: '[{"name": "weather"}]',
      conversations: [
        { from: 'human', value: 'Weather in Bern?' },
        { from: 'function_call', value: '{"name": "weather", "arguments": {"city": "Bern"}}' },
        { from: 'observation', value: '{"sky": "clear"}' },
        { from: 'gpt', value: 'Clear.' },
      ],
    },
  ],
  'openai-chat': [
    {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'Weather in Bern?' }] },
        {
          role: 'assistant',
          content: null,
          weight: 0,
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: '{"sky":"clear"}' },
        { role: 'assistant', content: 'Clear.' },
      ],
      tools: [{ type: 'function', function: { name: 'weather', parameters: {} } }],
      parallel_tool_calls: false,
    },
  ],
  verl: [
    {
      input: 'user\nWhat is 1 + 2?\nassistant\n',
      output: 'The answer is #### 3',
      gts: '3',
      score: 1.0,
      step: 17,
      acc: true,
      pred: '3',
      format_score: 0.5,
    },
    {
      prompt_ids: [1, 2, 3],
      response_ids: [4, 5, 6, 7, 8],
      response_mask: [1, 1, 0, 0, 1],
      response_logprobs: [-0.5, -0.25, 0.0, 0.0, -0.125],
      reward_score: 0.75,
      num_turns: 4,
      metrics: { generate_sequences: 1.5 },
      extra_fields: { tool_rewards: 0.25 },
    },
  ],
  atif: [
    {
      schema_version: 'ATIF-v1.7',
      session_id: 'session-1',
      trajectory_id: 'trajectory-1',
      agent: { name: 'terminus-2', version: '2.0', model_name: 'qwen3', tool_definitions: [] },
      steps: [
        { step_id: 1, source: 'system', message: 'You control a terminal.' },
        { step_id: 2, source: 'agent', message: 'Hello', is_copied_context: true },
        { step_id: 3, source: 'user', message: 'List the files.', timestamp: '2026-01-02T03:04:05Z' },
        {
          step_id: 4,
          source: 'agent',
          timestamp: '2026-01-02T03:04:06.500Z',
          message: 'I look.',
          reasoning_content: 'ls does it',
          tool_calls: [{ tool_call_id: 't1', function_name: 'bash', arguments: { keystrokes: 'ls\n' } }],
          observation: { results: [{ source_call_id: 't1', content: 'a.txt' }] },
          metrics: {
            prompt_tokens: 4,
            completion_tokens: 2,
            cached_tokens: 1,
            cost_usd: 0.001,
            prompt_token_ids: [1, 2, 3, 4],
            completion_token_ids: [5, 6],
            logprobs: [-0.1, -0.2],
          },
          extra: {
            retrace: {
              reward: 0.5,
              versions: [3, 3],
              sampling: { temperature: 1, topK: 0, topP: 1, greedy: false, maxNewTokens: 64 },
              logprobMode: 'processed',
            },
          },
        },
        {
          step_id: 5,
          source: 'agent',
          message: 'There is a.txt.',
          metrics: {
            prompt_token_ids: [1, 2, 3, 4, 5, 6, 7, 8],
            completion_token_ids: [9],
            logprobs: [-0.3],
          },
        },
      ],
      final_metrics: { total_steps: 5 },
      subagent_trajectories: [
        {
          schema_version: 'ATIF-v1.7',
          trajectory_id: 'searcher-1',
          agent: { name: 'searcher', version: '1' },
          steps: [
            { step_id: 1, source: 'user', message: 'Find it.' },
            { step_id: 2, source: 'agent', message: 'Found.' },
          ],
        },
      ],
    },
  ],
  'agent-lightning': [
    lightningSpan(0, 'openai.chat.completion', {
      'gen_ai.prompt.0.role': 'system',
      'gen_ai.prompt.0.content': 'Be brief.',
      'gen_ai.prompt.1.role': 'user',
      'gen_ai.prompt.1.content': 'How are you?',
      'gen_ai.completion.0.role': 'assistant',
      'gen_ai.completion.0.content': 'Fine.',
      'gen_ai.request.model': 'qwen',
      'gen_ai.request.temperature': 1,
      'gen_ai.response.id': 'r1',
      'gen_ai.usage.prompt_tokens': 4,
      'gen_ai.usage.completion_tokens': 2,
      prompt_token_ids: [1, 2, 3, 4],
      response_token_ids: [5, 6],
      'logprobs.content': '[{"token": "Fi", "logprob": -0.5}, {"token": "ne.", "logprob": -0.25}]',
    }),
    lightningSpan(2, 'agentlightning.annotation', {
      'agentlightning.reward.0.name': 'primary',
      'agentlightning.reward.0.value': 0.75,
      'agentlightning.reward.1.name': 'style',
      'agentlightning.reward.1.value': 0.25,
    }),
    lightningSpan(1, 'raw_gen_ai_request', {
      'gen_ai.response.id': 'r1',
      'llm.hosted_vllm.prompt_token_ids': '[1, 2, 3, 4]',
    }),
  ],
  'agent-lightning-events': [
    lightningEvent('model_request', {
      model: 'qwen',
      model_version: 4,
      request: { messages: [{ role: 'user', content: 'How are you?' }], temperature: 1.0, max_tokens: 16 },
      response: {
        id: 'r1',
        prompt_token_ids: [1, 2],
        choices: [
          {
            message: { role: 'assistant', content: 'Fine.' },
            token_ids: [3],
            logprobs: { content: [{ token: 'Fine.', logprob: -0.5 }] },
          },
        ],
        usage: { prompt_tokens: 2, completion_tokens: 1 },
      },
      latency_ms: 20,
      http_status: 200,
      status: 'ok',
    }),
    lightningEvent('model_request', {
      model: 'qwen',
      request: { messages: [] },
      response: {},
      http_status: 500,
      status: 'error',
    }),
    lightningEvent('reward', { value: 1.0, message: 'correct', source: 'agent' }),
  ],
  langfuse: [
    {
      id: 'trace-1',
      timestamp: '2026-01-02 03:04:05.000000',
      name: 'weather',
      metadata: { version: 2 },
      user_id: 'u1',
      session_id: 's1',
      tags: ['beta'],
      input: null,
      output: null,
    },
    {
      id: 'o1',
      trace_id: 'trace-1',
      type: 'AGENT',
      name: 'agent',
      parent_observation_id: '',
      start_time: '2026-01-02 03:04:05.000000',
      end_time: '2026-01-02 03:04:09.000000',
      level: 'DEFAULT',
    },
    {
      id: 'o2',
      trace_id: 'trace-1',
      type: 'GENERATION',
      name: 'call',
      parent_observation_id: 'o1',
      start_time: '2026-01-02 03:04:06.000000',
      end_time: '2026-01-02 03:04:08.250000',
      input: '[{"role":"user","content":"Weather?"}]',
      output: '{"role":"assistant","content":"Clear."}',
      provided_model_name: 'gpt-4o',
      model_parameters: '{"temperature":0.5,"max_tokens":100}',
      usage_details: { input: 5, output: 2, total: 7 },
      total_cost: 0.0025,
      level: 'DEFAULT',
    },
    {
      id: 's1',
      trace_id: 'trace-1',
      observation_id: null,
      name: 'helpful',
      value: 1,
      source: 'ANNOTATION',
      data_type: 'BOOLEAN',
      comment: 'good',
      timestamp: '2026-01-03 03:04:05.000000',
    },
  ],
  otlp: [
    {
      resourceSpans: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 'agent' } }] },
          scopeSpans: [
            {
              scope: { name: 'gen_ai' },
              spans: [
                otlpSpan('0000000000000002', '0000000000000001', 'chat gpt-4o', 2, {
                  'gen_ai.operation.name': { stringValue: 'chat' },
                  'gen_ai.provider.name': { stringValue: 'openai' },
                  'gen_ai.request.model': { stringValue: 'gpt-4o' },
                  'gen_ai.request.temperature': { doubleValue: 0.5 },
                  'gen_ai.usage.input_tokens': { intValue: '5' },
                  'gen_ai.usage.output_tokens': { intValue: 2 },
                  'gen_ai.system_instructions': { stringValue: '[{"type":"text","content":"Be brief."}]' },
                  'gen_ai.input.messages': {
                    stringValue: '[{"role":"user","parts":[{"type":"text","content":"Weather?"}]}]',
                  },
                  'gen_ai.output.messages': {
                    stringValue:
                      '[{"role":"assistant","parts":[{"type":"reasoning","content":"call it"},{"type":"tool_call","id":"c1","name":"weather","arguments":{"city":"Bern"}}],"finish_reason":"tool_calls"}]',
                  },
                }),
                otlpSpan('0000000000000003', '0000000000000001', 'execute_tool weather', 4, {
                  'gen_ai.operation.name': { stringValue: 'execute_tool' },
                  'gen_ai.tool.call.id': { stringValue: 'c1' },
                  'gen_ai.tool.call.result': { stringValue: 'clear' },
                }),
                otlpSpan('0000000000000001', '', 'invoke_agent weather', 1, {
                  'gen_ai.operation.name': { stringValue: 'invoke_agent' },
                  'gen_ai.agent.name': { stringValue: 'weather' },
                  'gen_ai.conversation.id': { stringValue: 'conversation-1' },
                }),
              ],
            },
          ],
        },
      ],
    },
  ],
};

/** A span of agent-lightning 0.3, as `Span.model_dump()` writes it. */
function lightningSpan(sequenceId: number, name: string, attributes: object) {
  return {
    rollout_id: 'ro-1',
    attempt_id: 'at-1',
    sequence_id: sequenceId,
    trace_id: '0000000000000000000000000000000a',
    span_id: `000000000000000${sequenceId + 1}`,
    parent_id: null,
    name,
    status: { status_code: 'OK', description: null },
    attributes,
    events: [],
    links: [],
    start_time: 1767322800.5 + sequenceId,
    end_time: 1767322801.25 + sequenceId,
    context: null,
    parent: null,
    resource: { attributes: {}, schema_url: '' },
  };
}

function lightningEvent(eventType: string, data: object) {
  return { event_type: eventType, rollout_id: 'ro-2', attempt_id: '0', timestamp: 1767322800.5, data };
}

/** A span in OTLP's JSON, of one second from second `start` on. */
function otlpSpan(spanId: string, parentSpanId: string, name: string, start: number, attributes: object) {
  return {
    traceId: '0000000000000000000000000000000b',
    spanId,
    parentSpanId,
    name,
    kind: 3,
    startTimeUnixNano: `${1_767_322_800 + start}000000000`,
    endTimeUnixNano: `${1_767_322_801 + start}000000000`,
    attributes: Object.entries(attributes).map(([key, value]) => ({ key, value: value as unknown })),
    events: [],
    status: { code: 1 },
  };
}
