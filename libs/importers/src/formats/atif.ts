import { asObject } from '@retrace/chat';
import {
  type AtifRetraceEpisode,
  type AtifRetraceStep,
  type EndReason,
  isJsonObject,
  type Json,
  type Split,
} from '@retrace/trajectory';
import { chatContent, newToolCall } from '../conversation/chat-message.js';
import { END_UNKNOWN, messageText, newMessage } from '../conversation/conversation-steps.js';
import {
  asFields,
  asList,
  asText,
  type Fields,
  integersOrNull,
  isMissing,
  json,
  known,
  looseText,
  numberOrNull,
} from '../fields.js';
import { episodeName, rowEpisodeId, type ImportFormat, type Mapped } from '../format.js';
import { RowFault, type Skip } from '../skip.js';
import { type AppendedPrompt, logprobColumn, TokenContext } from '../tokens/token-context.js';
import { parseTime } from '../time.js';
import type { WireEnd, WireEpisode, WireMessage, WireRecord, WireStep, WireTokens } from '@retrace/recording';

/** Trajectories in trajectories, at most so deep. */
const MAX_SUBAGENT_DEPTH = 8;

/**
 * Agent trajectories of Harbor, ATIF 1.0 to 1.8. Steps of the agent become steps, the system's and the user's and the results of tools
 * their input. Token columns are exact where a step has ids of prompt and completion. The format has no rewards: they come out of
 * `extra.retrace`, if Retrace wrote it.
 */
export const atif: ImportFormat = {
  name: 'atif',
  description: 'agent trajectories of Harbor (ATIF 1.0 to 1.8)',
  parquetColumns: null,
  keyOf: null,
  detects: (row) => isJsonObject(row) && looseText(row.schema_version)?.startsWith('ATIF-v') === true,
  map: ([row], origin) => {
    const root = asFields(row.value, 'row');
    const version = asText(root.schema_version, 'schema_version');
    if (!/^ATIF-v1\.[0-8]$/.test(version)) {
      throw new RowFault('UNSUPPORTED', `schema_version is "${version}"; ATIF-v1.0 to ATIF-v1.8 are read`);
    }
    const id = looseText(root.trajectory_id);
    const episode = id === undefined ? rowEpisodeId(origin, row) : episodeName(id);
    return new TrajectoryMapping(row.number).map(root, episode, null, 0);
  },
};

class TrajectoryMapping {
  private readonly episodes: WireRecord[][] = [];
  private readonly skipped: Skip[] = [];

  constructor(private readonly row: number) {}

  map(root: Fields, episode: string, parentEpisode: string | null, depth: number): Mapped {
    const agent = asFields(root.agent, 'agent');
    const carried = carriedBy<AtifRetraceEpisode>(root);
    const start = known<WireEpisode>({
      type: 'episode',
      episode,
      agent: looseText(agent.name),
      parentEpisode: parentEpisode ?? undefined,
      environment: looseText(carried.environment),
      task: carried.task,
      environmentSeed: carried.environmentSeed ?? undefined,
      samplingSeed: carried.samplingSeed ?? undefined,
      groupId: carried.groupId,
      split: carried.split as Split | undefined,
      tags: carried.tags,
      metadata: findMetadata(root, agent, carried),
    });
    const steps = this.steps(root, episode, looseText(agent.model_name));
    this.episodes.push([start, ...steps.records, makeEnd(carried, episode, steps)]);
    this.subagents(root, episode, depth);
    return { episodes: this.episodes, skipped: this.skipped };
  }

  private steps(root: Fields, episode: string, model: string | undefined): MappedSteps {
    const context = new TokenContext();
    const records: WireStep[] = [];
    let input: WireMessage[] = [];
    for (const [index, value] of asList(root.steps, 'steps').entries()) {
      const name = `steps[${index}]`;
      const step = asFields(value, name);
      const message = readMessage(step, name);
      if (step.is_copied_context === true) {
        const detail = `${name} repeats the context of another trajectory; it is input here, and no step`;
        this.skipped.push({ code: 'COPIED_CONTEXT', detail, row: this.row });
        input.push(message);
      } else if (step.source === 'agent') {
        const mapped = { ...agentStep(step, name, context, model), messages: { input, output: message } };
        records.push(known<WireStep>({ type: 'step', episode, step: records.length, ...mapped }));
        input = [];
      } else input.push(message);
      input.push(...toolMessages(step, name));
    }
    if (records.length === 0) throw new RowFault('NO_AGENT_TURN', 'no step is of the agent');
    return { records, rest: input };
  }

  private subagents(root: Fields, episode: string, depth: number): void {
    if (isMissing(root.subagent_trajectories)) return;
    for (const [index, value] of asList(root.subagent_trajectories, 'subagent_trajectories').entries()) {
      const name = `subagent_trajectories[${index}]`;
      try {
        if (depth >= MAX_SUBAGENT_DEPTH) throw new RowFault('TOO_DEEP', 'nested too deeply');
        const subagent = asFields(value, name);
        const id = episodeName(looseText(subagent.trajectory_id) ?? `${episode}/subagent-${index + 1}`);
        this.map(subagent, id, episode, depth + 1);
      } catch (error) {
        if (!(error instanceof RowFault)) throw error;
        this.skipped.push({ code: error.code, detail: `${name}: ${error.message}`, row: this.row });
      }
    }
  }
}

interface MappedSteps {
  readonly records: readonly WireStep[];
  /** Messages after the last step of the agent. */
  readonly rest: readonly WireMessage[];
}

function agentStep(
  step: Fields,
  name: string,
  context: TokenContext,
  model: string | undefined,
): Partial<WireStep> {
  const metrics = isMissing(step.metrics) ? {} : asFields(step.metrics, `${name}.metrics`);
  const carried = carriedBy<AtifRetraceStep>(step);
  const { reward, rewards, sampling, engine, tokenizerHash, logprobMode } = carried;
  return {
    observation: carried.observation,
    action: carried.action,
    parsedAction: carried.parsedAction,
    actionValid: carried.actionValid ?? undefined,
    anchor: carried.anchor ?? undefined,
    reward,
    rewards: rewards === undefined || Object.keys(rewards).length === 0 ? undefined : rewards,
    terminated: carried.terminated,
    truncated: carried.truncated,
    info: carried.info ?? undefined,
    usage: readUsage(metrics, name),
    tokens: toTokens(metrics, name, context, carried),
    sampling: sampling ?? undefined,
    engine,
    model: looseText(step.model_name) ?? model,
    tokenizerHash,
    logprobMode,
    occurredAt: parseTime(step.timestamp),
  };
}

function toTokens(
  metrics: Fields,
  name: string,
  context: TokenContext,
  { versions, prompt: appended }: AtifRetraceStep,
): WireTokens | undefined {
  const prompt = integersOrNull(metrics.prompt_token_ids, `${name}.metrics.prompt_token_ids`);
  const completion = integersOrNull(metrics.completion_token_ids, `${name}.metrics.completion_token_ids`);
  const added = appendedPrompt(appended, `${name}.extra.retrace.prompt`);
  if (completion === null || (prompt === null && added === null)) return undefined;
  const logprobs = logprobColumn(metrics.logprobs, `${name}.metrics.logprobs`, completion.length);
  const isWhole = versions?.length === completion.length;
  const sampled = { completion, logprobs, versions: isWhole ? versions : null };
  return prompt === null
    ? context.appendTo(added ?? NOTHING, sampled)
    : context.append({ prompt, ...sampled });
}

const NOTHING = { ids: [], keptPrefix: 0 };

/** Reads what a prompt appended to the context, where the trajectory does not repeat whole prompts; null where it does not say. */
function appendedPrompt(value: unknown, name: string): AppendedPrompt | null {
  if (isMissing(value)) return null;
  const { ids, keptPrefix } = asFields(value, name);
  const kept = numberOrNull(keptPrefix, `${name}.keptPrefix`);
  if (kept === null || !Number.isInteger(kept) || kept < 0) {
    throw new RowFault('WRONG_TYPE', `"${name}.keptPrefix" must be a whole number from 0`);
  }
  return { ids: integersOrNull(ids, `${name}.ids`) ?? [], keptPrefix: kept };
}

function readUsage(metrics: Fields, name: string): WireStep['usage'] {
  const usage = {
    inputTokens: numberOrNull(metrics.prompt_tokens, `${name}.metrics.prompt_tokens`),
    cachedInputTokens: numberOrNull(metrics.cached_tokens, `${name}.metrics.cached_tokens`),
    outputTokens: numberOrNull(metrics.completion_tokens, `${name}.metrics.completion_tokens`),
    reasoningTokens: null,
    costUsd: numberOrNull(metrics.cost_usd, `${name}.metrics.cost_usd`),
  };
  return Object.values(usage).every((value) => value === null) ? undefined : usage;
}

function readMessage(step: Fields, name: string): WireMessage {
  const source = asText(step.source, `${name}.source`);
  const content = chatContent(step.message, `${name}.message`);
  const calls = isMissing(step.tool_calls) ? [] : asList(step.tool_calls, `${name}.tool_calls`);
  return newMessage({
    role: source === 'agent' ? 'assistant' : source,
    content: typeof content === 'string' || content === null ? content : content.map(contentPart),
    reasoning_content: looseText(step.reasoning_content),
    tool_calls: calls.map((value, index) => {
      const call = asFields(value, `${name}.tool_calls[${index}]`);
      const called = asText(call.function_name, `${name}.tool_calls[${index}].function_name`);
      return newToolCall({ id: looseText(call.tool_call_id) ?? '', name: called, given: call.arguments });
    }),
  });
}

/** Images are `{type: 'image', source: {media_type, path}}` here and `image_url` in a chat; other parts stay as they are. */
function contentPart(part: Json): Json {
  if (!isJsonObject(part) || part.type !== 'image' || !isJsonObject(part.source)) return part;
  const url = looseText(part.source.path);
  return url === undefined ? part : { type: 'image_url', image_url: { url } };
}

function toolMessages(step: Fields, name: string): WireMessage[] {
  if (isMissing(step.observation)) return [];
  const { results } = asFields(step.observation, `${name}.observation`);
  return asList(results, `${name}.observation.results`).map((value, index) => {
    const result = asFields(value, `${name}.observation.results[${index}]`);
    const content = chatContent(result.content, `${name}.observation.results[${index}].content`);
    return newMessage({
      // Without a call it is an observation that the environment gave by itself.
      role: isMissing(result.source_call_id) ? 'user' : 'tool',
      content: content === null || typeof content === 'string' ? (content ?? '') : content.map(contentPart),
      tool_call_id: looseText(result.source_call_id),
    });
  });
}

function makeEnd(carried: AtifRetraceEpisode, episode: string, { records, rest }: MappedSteps): WireEnd {
  const last = rest.map(messageText).filter((text) => text !== '');
  return known<WireEnd>({
    type: 'end',
    episode,
    endReason: (carried.endReason as EndReason | undefined) ?? END_UNKNOWN.endReason,
    detail: carried.endReason === undefined ? END_UNKNOWN.detail : (carried.endDetail ?? undefined),
    finalObservation: carried.finalObservation ?? (last.length === 0 ? undefined : last.join('\n')),
    success: carried.success ?? undefined,
    numSteps: records.length,
  });
}

function findMetadata(root: Fields, agent: Fields, carried: AtifRetraceEpisode): Json | undefined {
  const { retrace: _, ...extra } = asObject(root.extra);
  const metadata = known({
    ...asObject(carried.metadata),
    sessionId: looseText(root.session_id),
    agentVersion: looseText(agent.version),
    tools: agent.tool_definitions ?? undefined,
    notes: looseText(root.notes),
    continuedBy: looseText(root.continued_trajectory_ref),
    extra: Object.keys(extra).length === 0 ? undefined : extra,
  });
  return Object.keys(metadata).length === 0 ? undefined : json(metadata);
}

/** `extra.retrace` of an object; empty where it is missing. The recording contract checks its values. */
function carriedBy<T extends object>(fields: Fields): T {
  return asObject(asObject(fields.extra).retrace) as T;
}
