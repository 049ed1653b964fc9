import {
  asObject,
  isJsonObject,
  completionCounts,
  type JsonObject,
  readPromptIds,
  readSampledIds,
} from '@retrace/chat';
import { statedSampling } from '../conversation/stated-sampling.js';
import { asFields, type Fields, known, looseNumber, looseText } from '../fields.js';
import { episodeName, type ImportFormat } from '../format.js';
import { looseMessages } from '../spans/loose-messages.js';
import { readToolDefinitions } from '../spans/offered-tools.js';
import { traceRecords } from '../spans/trace-records.js';
import type { CallTokens, ModelCall, TraceNode, TraceReward } from '../spans/trace-node.js';
import { timeOfSeconds } from '../time.js';
import { contentLogprobs } from '../tokens/token-context.js';
import { attemptKey } from './agent-lightning.js';

const HTTP_ERROR = 400;

/**
 * Events of agent-lightning 1.0, one a row: `model_request` is a step and `reward` rewards the request before it. Their order in the dump
 * counts, as in its store.
 */
export const agentLightningEvents: ImportFormat = {
  name: 'agent-lightning-events',
  description: 'events of agent-lightning 1.0',
  parquetColumns: null,
  detects: (row) => isJsonObject(row) && 'event_type' in row && 'rollout_id' in row,
  keyOf: (row) => (isJsonObject(row) ? attemptKey(row) : null),
  map: (rows) => {
    const events = rows.map(({ value }) => asFields(value, 'row'));
    const [first] = events;
    return traceRecords(events.map(readNode), {
      episode: episodeName(attemptKey(first) ?? ''),
      environment: undefined,
      tags: [],
      metadata: known({ rolloutId: looseText(first.rollout_id), attemptId: looseText(first.attempt_id) }),
      // The state of the rollout is not among its events.
      end: { endReason: 'truncated', detail: 'the imported data does not say how the episode ended' },
      row: rows[0].number,
    });
  },
};

function readNode(event: Fields, index: number): TraceNode {
  const data = asObject(event.data);
  const isCall = event.event_type === 'model_request';
  const endUs = timeOfSeconds(event.timestamp);
  const latencyMs = looseNumber(data.latency_ms);
  const id = `event-${index}`;
  return {
    id,
    parentId: null,
    name: looseText(event.event_type) ?? '',
    kind: isCall ? 'call' : 'other',
    sequence: index,
    startUs:
      endUs === undefined || latencyMs === undefined ? undefined : endUs - Math.round(latencyMs * 1000),
    endUs,
    failure:
      isCall && hasFailed(data)
        ? `the request failed: ${JSON.stringify(data.http_status ?? data.status ?? null)}`
        : '',
    call: isCall ? readCall(data) : null,
    toolResult: null,
    agentName: '',
    rewards: event.event_type === 'reward' ? readReward(data, id) : [],
  };
}

function hasFailed({ status, http_status: httpStatus }: Fields): boolean {
  return status === 'error' || (typeof httpStatus === 'number' && httpStatus >= HTTP_ERROR);
}

function readReward(data: Fields, id: string): TraceReward[] {
  const value = looseNumber(data.value);
  if (value === undefined) return [];
  const rationale = [looseText(data.message), looseText(data.reason)]
    .filter((text) => text !== undefined)
    .join(': ');
  return [
    {
      id,
      name: 'reward',
      value,
      source: looseText(data.source) ?? 'agent-lightning',
      rationale,
      of: 'preceding-call',
    },
  ];
}

function readCall(data: Fields): ModelCall {
  const request = asObject(data.request);
  const asked: Fields = { ...request, ...asObject(data.adjusted_params) };
  const response = hasFailed(data) ? {} : asObject(data.response);
  const [choice]: unknown[] = Array.isArray(response.choices) ? response.choices : [];
  const output = isJsonObject(choice) ? looseMessages(choice.message ?? choice.text, 'assistant') : [];
  const usage = isJsonObject(response.usage) ? response.usage : isJsonObject(data.usage) ? data.usage : null;
  return {
    input: looseMessages(request.messages ?? request.prompt, 'user'),
    output: output.at(0) ?? null,
    usage:
      usage === null
        ? null
        : { ...completionCounts(usage, (count) => looseNumber(count) ?? null), costUsd: null },
    model: looseText(response.model) ?? looseText(data.model) ?? '',
    engine: '',
    sampling: statedSampling({
      temperature: asked.temperature,
      topK: asked.top_k,
      topP: asked.top_p,
      maxNewTokens: asked.max_completion_tokens ?? asked.max_tokens,
    }),
    tools: readToolDefinitions(request.tools),
    tokens: isJsonObject(choice) ? findTokens(response, choice, looseNumber(data.model_version)) : null,
    responseId: looseText(response.id) ?? '',
  };
}

function findTokens(
  response: JsonObject,
  choice: JsonObject,
  version: number | undefined,
): CallTokens | null {
  const prompt = readPromptIds(response);
  const completion = readSampledIds(choice);
  if (!prompt?.length || !completion?.length) return null;
  const logprobs = contentLogprobs(asObject(choice.logprobs).content, completion.length);
  return { prompt, completion, logprobs, version: version ?? null };
}
