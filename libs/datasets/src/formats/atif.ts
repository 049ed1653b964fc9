import type { Json } from '@retrace/trajectory';
import { agentStep, withObservation } from './atif-steps.js';
import { contextsOf } from './atif-tokens.js';
import { type RecordedMessage, inputMessages, type StoredEpisode } from '../stored-episode.js';
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
      : newRow(trajectoryOf(episode, selected.score)),
};

function trajectoryOf(episode: StoredEpisode, score: number | null): DatasetRow {
  const { runId, episodeId, agent, environment, task, success, endReason, split } = episode;
  const model = episode.steps.find((step) => step.model !== '')?.model;
  const steps = stepsOf(episode).map((step, index) => ({ step_id: index + 1, ...step }));
  return {
    schema_version: 'ATIF-v1.8',
    session_id: runId,
    trajectory_id: episodeId,
    agent: { name: agent, version: 'unknown', ...(model !== undefined && { model_name: model }) },
    steps,
    final_metrics: { ...totalsOf(episode), total_steps: steps.length },
    extra: {
      retrace: {
        environment,
        task: JSON.parse(task) as Json,
        split,
        success,
        end_reason: endReason,
        score,
      },
    },
  };
}

/** The entries of a trajectory: what was said to the agent, and what it answered with what came back from that. */
function stepsOf(episode: StoredEpisode): Record<string, Json>[] {
  const steps: Record<string, Json>[] = [];
  const contexts = contextsOf(episode.steps);
  episode.steps.forEach((step, index) => {
    const timestamp = step.occurredAt;
    const isResult = step.messages === null && index > 0;
    if (isResult) withObservation(steps, [{ content: step.observation }]);
    else for (const message of inputMessages(step)) addInput(steps, message, timestamp);
    steps.push(agentStep(step, contexts[index]));
  });
  if (episode.finalObservation !== '') withObservation(steps, [{ content: episode.finalObservation }]);
  return steps;
}

/** A tool's answer belongs to the agent's step that called it; anything else is a step of its own. */
function addInput(steps: Record<string, Json>[], message: RecordedMessage, timestamp: string): void {
  const { role, content, tool_call_id: callId } = message;
  if (role === 'tool' || role === 'function') {
    withObservation(steps, [{ content: textOf(content), ...(callId != null && { source_call_id: callId }) }]);
    return;
  }
  const source =
    role === 'system' || role === 'developer' ? 'system' : role === 'assistant' ? 'agent' : 'user';
  steps.push({ timestamp, source, message: textOf(content) });
}

const textOf = (content: Json): string =>
  typeof content === 'string' ? content : content === null ? '' : JSON.stringify(content);

function totalsOf({ steps }: StoredEpisode): Record<string, Json> {
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
