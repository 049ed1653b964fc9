import { writeJson } from '@retrace/rows';
import { isJsonObject, type Json } from '@retrace/trajectory';
import { agentStep, copiedStep, withObservation } from './atif-steps.js';
import { countKeptMessages } from '../contexts.js';
import { toolsOfEpisode, toolsOfStep } from '../tool-definitions.js';
import { stepTokens } from './atif-tokens.js';
import {
  type RecordedMessage,
  inputMessages,
  type StoredEpisode,
  type StoredStep,
} from '../stored-episode.js';
import { type DatasetFormat, type DatasetRow, newRow, noRow } from './dataset-format.js';
import { text } from './parquet-columns.js';

/** Harbor's Agent Trajectory Interchange Format (RFC 0001), one trajectory a row. Parquet files hold what is nested as JSON text. */
export const atif: DatasetFormat = {
  description: 'trajectories in ATIF 1.8, with token ids and logprobs where the store has them',
  withTokens: true,
  columns: [
    text('schema_version'),
    text('session_id'),
    text('trajectory_id'),
    text('agent'),
    text('steps'),
    text('final_metrics'),
    text('extra'),
  ],
  plan: (episodes) =>
    episodes.map((episode) => ({ split: episode.split, members: [{ episode, step: null }] })),
  build: ({ members: [{ episode: selected }] }, [episode]) =>
    episode.steps.length === 0
      ? noRow('the episode has no step')
      : newRow(toTrajectory(episode, selected.score)),
};

function toTrajectory(episode: StoredEpisode, score: number | null): DatasetRow {
  const { runId, episodeId, agent } = episode;
  const model = episode.steps.find((step) => step.model !== '')?.model;
  const tools = [toolsOfEpisode(episode), ...episode.steps.map(toolsOfStep)].find((list) => list !== null);
  const steps = listSteps(episode).map((step, index) => ({ step_id: index + 1, ...step }));
  return {
    schema_version: 'ATIF-v1.8',
    session_id: runId,
    trajectory_id: episodeId,
    agent: {
      name: agent,
      version: 'unknown',
      ...(model !== undefined && { model_name: model }),
      ...(tools !== undefined && { tool_definitions: tools }),
    },
    steps,
    final_metrics: { ...sumTotals(episode), total_steps: steps.length },
    extra: {
      retrace: { ...toRetraceFields(episode), score },
    },
  };
}

/** Fields that the format has no place for; see `AtifRetraceEpisode`. Missing = unknown. */
function toRetraceFields(episode: StoredEpisode): Record<string, Json> {
  const { environment, environmentSeed, samplingSeed, groupId, split, tags } = episode;
  const { success, endReason, endDetail, finalObservation } = episode;
  const known = {
    environment: environment || null,
    task: JSON.parse(episode.task) as Json,
    environmentSeed,
    samplingSeed,
    groupId,
    split,
    tags: tags.length === 0 ? null : tags,
    metadata: JSON.parse(episode.metadata ?? 'null') as Json,
    success,
    endReason,
    endDetail: endDetail || null,
    finalObservation: finalObservation || null,
  };
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null));
}

/** The entries of a trajectory: what was said to the agent, and what it answered with what came back from that. */
function listSteps(episode: StoredEpisode): Record<string, Json>[] {
  const steps: Record<string, Json>[] = [];
  const tokens = stepTokens(episode.steps);
  const kept = countKeptMessages(episode);
  episode.steps.forEach((step, index) => {
    const timestamp = step.occurredAt;
    const isRewritten = kept[index] !== null;
    const isResult = hasNoMessage(step) && index > 0 && !isRewritten;
    if (isResult) withObservation(steps, [{ content: step.observation }]);
    else for (const message of inputMessages(step)) addInput(steps, message, timestamp);
    steps.push(agentStep(step, tokens[index], withMark(step, kept[index])));
  });
  if (episode.finalObservation !== '') withObservation(steps, [{ content: episode.finalObservation }]);
  return steps;
}

/** Whether the text of a step is its observation alone: its prompt showed that as it is, or no model was asked. */
const hasNoMessage = ({ messages, observation }: StoredStep): boolean =>
  messages === null || (messages.input.length === 0 && messages.output === null && observation !== '');

/** The info of a step with the mark of a rewritten context, which a step of a policy has in its tokens. */
function withMark({ details }: StoredStep, keptMessages: number | null): Json {
  const info = details?.info ?? null;
  if (keptMessages === null) return info;
  return { ...(isJsonObject(info) ? info : info === null ? {} : { environment: info }), keptMessages };
}

/**
 * A tool's answer belongs to the agent's step that called it; anything else is a step of its own. An answer in a prompt is of the history,
 * not of this call.
 */
function addInput(steps: Record<string, Json>[], message: RecordedMessage, timestamp: string): void {
  const { role, content, tool_call_id: callId } = message;
  if (role === 'tool' || role === 'function') {
    withObservation(steps, [{ content: textOf(content), ...(callId != null && { source_call_id: callId }) }]);
    return;
  }
  if (role === 'assistant') {
    steps.push({ ...copiedStep(message), timestamp });
    return;
  }
  const source = role === 'system' || role === 'developer' ? 'system' : 'user';
  steps.push({ timestamp, source, message: textOf(content) });
}

const textOf = (content: Json): string =>
  typeof content === 'string' ? content : content === null ? '' : writeJson(content);

function sumTotals({ steps }: StoredEpisode): Record<string, Json> {
  const sum = (values: readonly (number | null)[]) =>
    values.some((value) => value !== null)
      ? values.reduce<number>((total, value) => total + (value ?? 0), 0)
      : null;
  const totals = {
    total_prompt_tokens: sum(steps.map(({ usage }) => usage.inputTokens)),
    total_completion_tokens: sum(steps.map(({ usage }) => usage.outputTokens)),
    total_cached_tokens: sum(steps.map(({ usage }) => usage.cachedInputTokens)),
    total_cost_usd: sum(steps.map(({ usage }) => usage.costUsd)),
  };
  return Object.fromEntries(Object.entries(totals).filter(([, value]) => value !== null));
}
