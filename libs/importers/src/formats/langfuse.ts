import { asObject, isJsonObject } from '@retrace/chat';
import { writeJson } from '@retrace/rows';
import { statedSampling } from '../conversation/stated-sampling.js';
import { type Fields, isMissing, known, looseJson, looseNumber, looseText } from '../fields.js';
import { episodeName, type ImportFormat } from '../format.js';
import { groupedBy } from '../rows/grouped-by.js';
import { newestVersions } from '../rows/newest-versions.js';
import { looseCalls, looseMessages } from '../spans/loose-messages.js';
import { readToolDefinitions } from '../spans/offered-tools.js';
import { traceRecords } from '../spans/trace-records.js';
import type { ModelCall, TraceNode, TraceReward } from '../spans/trace-node.js';
import { parseTime } from '../time.js';
import type { WireMessage, WireStep } from '@retrace/recording';

/** Types of observations that are calls of a model; `EMBEDDING` is none. */
const CALL_TYPE = 'GENERATION';

/**
 * Exports of Langfuse: the files of the blob storage export (`observations_v2/`, or `observations/` and `traces/`, and `scores/`), a
 * trace downloaded from the page, and what its API answers. Field names come in snake_case or camelCase; both are read.
 */
export const langfuse: ImportFormat = {
  name: 'langfuse',
  description: 'traces, observations and scores exported by Langfuse',
  parquetColumns: null,
  detects: (row) => isJsonObject(row) && (hasParts(row) || rowKind(row) !== null),
  expand: (row) => (isJsonObject(row) ? readParts(row) : []),
  keyOf: (row) => (isJsonObject(row) ? findTraceId(row) : null),
  map: (rows) => {
    const all = rows.map(({ value }) => value).filter(isJsonObject);
    const parts = newestVersions(all, (part) => `${rowKind(part)} ${looseText(part.id)}`, findVersionTime);
    const traceId = findTraceId(parts[0]) ?? '';
    const trace = parts.find((part) => rowKind(part) === 'trace') ?? {};
    const observations = parts.filter((part) => rowKind(part) === 'observation');
    const about = { ...observations.at(0), ...trace };
    const scoreRows = parts.filter((part) => rowKind(part) === 'score');
    const scores = scoreRows.flatMap(readScore);
    const ids = new Set(observations.map(({ id }) => id));
    const others = scores.filter(({ observationId }) => observationId === null || !ids.has(observationId));
    const scoresOf = groupedBy(scores, ({ observationId }) => observationId);
    const nodes = observations.map((part) => readNode(part, scoresOf.get(looseText(part.id) ?? '') ?? []));
    return traceRecords([...nodes, scoreNode(traceId, others)], {
      episode: episodeName(traceId),
      environment: undefined,
      tags: readTexts(about.tags),
      metadata: toMetadata(traceId, about, trace, scoreRows.flatMap(readWord)),
      end: null,
      row: rows[0].number,
    });
  },
};

/** A field under its name in snake_case or in camelCase. */
function field(row: Fields, name: string): unknown {
  return row[name] ?? row[name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())];
}

function hasParts(row: Fields): boolean {
  return (
    Array.isArray(row.observations) &&
    row.observations.some((part) => isJsonObject(part) && rowKind(part) !== null)
  );
}

/** Splits a downloaded trace into its rows. `data` is the list of an answer of the API. */
function readParts(row: Fields): readonly unknown[] {
  if (Array.isArray(row.data)) return row.data.flatMap((part) => (isJsonObject(part) ? readParts(part) : []));
  if (!hasParts(row)) return [row];
  const { observations, scores, trace, ...own } = row;
  return [trace, own, ...(observations as unknown[]), ...(Array.isArray(scores) ? scores : [])].filter(
    (part) => isJsonObject(part) && rowKind(part) !== null,
  );
}

function rowKind(row: Fields): 'trace' | 'observation' | 'score' | null {
  if (typeof row.id !== 'string') return null;
  const traceId = field(row, 'trace_id');
  if (typeof traceId === 'string') {
    if (typeof field(row, 'data_type') === 'string' && typeof row.name === 'string' && 'source' in row)
      return 'score';
    return typeof row.type === 'string' && !isMissing(field(row, 'start_time')) ? 'observation' : null;
  }
  return typeof row.timestamp === 'string' && 'name' in row && 'metadata' in row ? 'trace' : null;
}

function findTraceId(row: Fields): string | null {
  const id = rowKind(row) === 'trace' ? row.id : field(row, 'trace_id');
  return looseText(id) ?? null;
}

/** When a version of a row was written: exports repeat rows that changed, and files of neighboring hours overlap. */
function findVersionTime(row: Fields): number | undefined {
  return parseTime(field(row, 'updated_at')) ?? parseTime(row.timestamp);
}

/** @param scores those of this observation */
function readNode(row: Fields, scores: readonly ObservationScore[]): TraceNode {
  const type = looseText(row.type) ?? '';
  const kind = type === CALL_TYPE ? 'call' : type === 'AGENT' ? 'agent' : type === 'TOOL' ? 'tool' : 'other';
  const id = looseText(row.id) ?? '';
  const name = looseText(row.name) ?? '';
  return {
    id,
    parentId: looseText(field(row, 'parent_observation_id')) ?? null,
    name,
    kind,
    sequence: 0,
    startUs: parseTime(field(row, 'start_time')),
    endUs: parseTime(field(row, 'end_time')),
    failure:
      row.level === 'ERROR'
        ? (looseText(field(row, 'status_message')) ?? 'the observation ended with an error')
        : '',
    call: kind === 'call' ? readCall(row) : null,
    toolResult: kind === 'tool' ? readToolResult(row.output) : null,
    agentName: kind === 'agent' ? name : '',
    rewards: scores.map((score) => ({ ...score, of: kind === 'call' ? 'own-call' : 'episode' })),
  };
}

function readCall(row: Fields): ModelCall {
  const usage = asObject(field(row, 'usage_details'));
  const cost = asObject(field(row, 'cost_details'));
  const number = (...values: unknown[]) =>
    values.map(looseNumber).find((value) => value !== undefined) ?? null;
  const [output = null] = looseMessages(looseJson(row.output), 'assistant').slice(-1);
  return {
    input: looseMessages(looseJson(row.input), 'user'),
    output: withCalls(output, field(row, 'tool_calls')),
    usage: {
      inputTokens: number(usage.input, usage.prompt_tokens),
      cachedInputTokens: number(usage.input_cached_tokens, usage.cache_read_input_tokens),
      outputTokens: number(usage.output, usage.completion_tokens),
      reasoningTokens: number(usage.output_reasoning_tokens, usage.reasoning_tokens),
      costUsd: number(field(row, 'total_cost'), row.calculatedTotalCost, cost.total),
    },
    model: looseText(field(row, 'provided_model_name')) ?? looseText(row.model) ?? '',
    engine: '',
    sampling: readSampling(looseJson(field(row, 'model_parameters'))),
    tokens: null,
    tools: readTools(row),
    responseId: '',
  };
}

/** Adds the calls of tools that Langfuse lists beside an output which does not show them. */
function withCalls(output: WireMessage | null, listed: unknown): WireMessage | null {
  if (output?.tool_calls !== undefined || !Array.isArray(listed)) return output;
  const calls = looseCalls(listed, {});
  if (calls.length === 0) return output;
  return { ...(output ?? { role: 'assistant', content: null }), tool_calls: calls };
}

/** The tools that a call offered, beside its messages or in a column of their own. */
function readTools(row: Fields): ModelCall['tools'] {
  const input = looseJson(row.input);
  const listed = looseJson(field(row, 'tool_definitions'));
  // The column has an object of the definitions by their names.
  const column = isJsonObject(listed)
    ? Object.entries(listed).map(([name, value]) => {
        const definition = looseJson(value);
        return isJsonObject(definition) ? { name, ...definition } : { name };
      })
    : listed;
  return readToolDefinitions(asObject(input).tools) ?? readToolDefinitions(column);
}

function readSampling(value: unknown): WireStep['sampling'] | null {
  if (!isJsonObject(value)) return null;
  return statedSampling({
    temperature: value.temperature,
    topK: value.top_k ?? value.topK,
    topP: value.top_p ?? value.topP,
    maxNewTokens: value.max_tokens ?? value.maxTokens,
  });
}

function readToolResult(output: unknown): WireMessage | null {
  if (isMissing(output) || output === '') return null;
  return { role: 'tool', content: typeof output === 'string' ? output : writeJson(output) };
}

interface ObservationScore extends TraceReward {
  readonly observationId: string | null;
}

/** The number of a score; undefined of one that is words: a text, or a category without a number. */
function findNumber(row: Fields): number | undefined {
  const type = looseText(field(row, 'data_type')) ?? 'NUMERIC';
  return type === 'TEXT' || type === 'CORRECTION' ? undefined : looseNumber(row.value);
}

/** A score of words, which no reward can hold. */
function readWord(row: Fields): Readonly<Record<string, unknown>>[] {
  const value = looseText(field(row, 'string_value')) ?? looseText(row.value);
  if (value === undefined || findNumber(row) !== undefined) return [];
  return [
    known({
      name: looseText(row.name) ?? 'score',
      value,
      source: sourceOf(row),
      comment: looseText(row.comment),
      observationId: looseText(field(row, 'observation_id')),
    }),
  ];
}

const sourceOf = (row: Fields): string => `langfuse/${(looseText(row.source) ?? 'unknown').toLowerCase()}`;

/** A score as a reward; a category's number is its place among the categories, and its name the rationale. */
function readScore(row: Fields): ObservationScore[] {
  const value = findNumber(row);
  if (value === undefined) return [];
  const observationId = looseText(field(row, 'observation_id')) ?? null;
  const words = [looseText(field(row, 'string_value')), looseText(row.comment)];
  return [
    {
      id: looseText(row.id) ?? '',
      name: looseText(row.name) ?? 'score',
      value,
      source: sourceOf(row),
      rationale: words.filter((text) => text !== undefined).join(': '),
      of: observationId === null ? 'episode' : 'own-call',
      observationId,
    },
  ];
}

/** Carries the scores of the whole trace, and of observations that the export lacks. */
function scoreNode(traceId: string, scores: readonly ObservationScore[]): TraceNode {
  return {
    id: `${traceId}/scores`,
    parentId: `${traceId}/none`,
    name: '',
    kind: 'other',
    sequence: 1,
    startUs: undefined,
    endUs: undefined,
    failure: '',
    call: null,
    toolResult: null,
    agentName: '',
    rewards: scores.map((score) => ({ ...score, of: 'episode' })),
  };
}

function toMetadata(
  traceId: string,
  about: Fields,
  trace: Fields,
  words: readonly object[],
): Readonly<Record<string, unknown>> {
  const { metadata } = isMissing(trace.metadata) ? about : trace;
  return known({
    traceId,
    traceName: looseText(field(about, 'trace_name')) ?? looseText(trace.name),
    sessionId: looseText(field(about, 'session_id')),
    userId: looseText(field(about, 'user_id')),
    release: looseText(about.release),
    version: looseText(about.version),
    langfuseEnvironment: looseText(about.environment),
    metadata: isJsonObject(metadata) && Object.keys(metadata).length > 0 ? metadata : undefined,
    scores: words.length === 0 ? undefined : words,
  });
}

function readTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
