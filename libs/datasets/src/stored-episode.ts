import type { Json } from '@retrace/trajectory';

/** A chat message in OpenAI's shape, as it was recorded or made from an observation or action. */
export interface RecordedMessage {
  readonly role: string;
  /** Text, or a list of content parts; null beside tool calls. */
  readonly content: Json;
  readonly [field: string]: Json;
}

/** An episode without its steps. */
export interface EpisodeFacts {
  readonly runId: string;
  readonly episodeId: string;
  readonly groupId: string;
  readonly environment: string;
  /** Null where the recorder did not know it. */
  readonly environmentSeed: number | null;
  /** The task as JSON text. */
  readonly task: string;
  readonly split: string;
  readonly agent: string;
  readonly success: boolean | null;
  /** Sum of the step rewards; null when all are missing. */
  readonly return: number | null;
  readonly endReason: string | null;
  readonly sealed: boolean;
  readonly tags: readonly string[];
  /** JSON text; null where there is none. */
  readonly metadata: string | null;
  readonly finalObservation: string;
  readonly startedAt: string;
}

export interface StoredUsage {
  readonly inputTokens: number | null;
  readonly cachedInputTokens: number | null;
  readonly outputTokens: number | null;
  readonly costUsd: number | null;
}

/** The tokens that a step appended to the context; see `StepRecorded`. */
export interface StoredTokens {
  readonly ids: readonly number[];
  readonly mask: readonly number[];
  /** Null = missing. */
  readonly logprobs: readonly (number | null)[];
  readonly keptPrefix: number;
}

export interface StoredStep {
  readonly step: number;
  readonly occurredAt: string;
  readonly observation: string;
  readonly action: string;
  /** Of the step, without rewards that were assigned later; null = missing. */
  readonly reward: number | null;
  readonly anchor: string | null;
  readonly model: string;
  /** The chat messages that the step added; null where the recorder gave none. */
  readonly messages: {
    readonly input: readonly RecordedMessage[];
    readonly output: RecordedMessage | null;
  } | null;
  readonly usage: StoredUsage;
  /** Read only for formats that hold tokens. */
  readonly tokens: StoredTokens | null;
}

export interface StoredEpisode extends EpisodeFacts {
  /** In order, from 0, without a gap. */
  readonly steps: readonly StoredStep[];
}

/** The input messages of a step: those that were recorded, else its observation as a user's message. */
export function inputMessages(step: StoredStep): readonly RecordedMessage[] {
  return step.messages?.input ?? [{ role: 'user', content: step.observation }];
}

/** The agent's message of a step: the one that was recorded, else its action. */
export function outputMessage(step: StoredStep): RecordedMessage {
  return step.messages?.output ?? { role: 'assistant', content: step.action };
}

/** The conversation up to the output of step `end` − 1. */
export function conversation({ steps }: StoredEpisode, end = steps.length): RecordedMessage[] {
  return steps.slice(0, end).flatMap((step) => [...inputMessages(step), outputMessage(step)]);
}

/** The conversation that the agent saw when it answered in `step`. */
export function promptOf(episode: StoredEpisode, step: number): RecordedMessage[] {
  return [...conversation(episode, step), ...inputMessages(episode.steps[step])];
}

/** The tool definitions of an episode, which recorders put into its metadata under `tools`; null where it has none. */
export function toolsOf({ metadata }: EpisodeFacts): readonly Json[] | null {
  const value = JSON.parse(metadata ?? 'null') as Json;
  if (value === null || typeof value !== 'object' || !('tools' in value)) return null;
  return Array.isArray(value.tools) ? (value.tools as readonly Json[]) : null;
}
