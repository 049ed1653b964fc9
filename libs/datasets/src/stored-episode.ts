import type { EndReason, Json, SamplingParameters } from '@retrace/trajectory';

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
  readonly endReason: EndReason | null;
  readonly endDetail: string;
  readonly samplingSeed: number | null;
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

/** Other facts of a step; see `StepRecorded`. */
export interface StoredDetails {
  readonly parsedAction: string | null;
  readonly actionValid: boolean | null;
  /** Named parts of the reward; null = missing. */
  readonly rewards: Readonly<Record<string, number | null>>;
  readonly terminated: boolean;
  readonly truncated: boolean;
  readonly info: Json;
  readonly sampling: SamplingParameters | null;
  readonly engine: string;
  readonly tokenizerHash: string;
  readonly logprobMode: 'processed' | 'raw' | 'none';
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
  /**
   * Messages of the context so far that the step's prompt kept, where its recorder says that it was rewritten (`info.keptMessages`); null =
   * it kept all.
   */
  readonly keptMessages: number | null;
  /** Oldest turns that the prompt left out (`info.agent.numHiddenTurns`); null = none, or unknown. */
  readonly numHiddenTurns: number | null;
  /** Definitions of tools, where they are others than before (`info.toolDefinitions`); null = as before. */
  readonly toolDefinitions: Json;
  /** Tokens that the step appended to the context, those of them before the agent's, and those of the context that its prompt kept. */
  readonly numTokens: number;
  readonly numPromptTokens: number;
  readonly keptPrefixTokens: number;
  readonly usage: StoredUsage;
  /** Read only for formats that hold tokens, as are `details`. */
  readonly tokens: StoredTokens | null;
  readonly details: StoredDetails | null;
}

export interface StoredEpisode extends EpisodeFacts {
  /** In order, from 0, without a gap. */
  readonly steps: readonly StoredStep[];
}

/**
 * The input messages of a step: those that were recorded, else its observation as a user's message. None of a step without any text, whose
 * messages a recorder puts into another step.
 */
export function inputMessages(step: StoredStep): readonly RecordedMessage[] {
  if (step.messages !== null) return step.messages.input;
  return hasNoText(step) ? [] : [{ role: 'user', content: step.observation }];
}

/** The agent's message of a step: the one that was recorded, else its action; null where there is none, as of a call that failed. */
export function outputMessage(step: StoredStep): RecordedMessage | null {
  if (step.messages !== null) return step.messages.output;
  return hasNoText(step) ? null : { role: 'assistant', content: step.action };
}

const hasNoText = ({ observation, action }: StoredStep): boolean => observation === '' && action === '';
