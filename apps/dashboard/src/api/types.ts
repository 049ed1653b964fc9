/** Answers of the REST API, as `/api/openapi.json` describes them. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

export type RunStatus = 'running' | 'idle' | 'finished' | 'stopped' | 'failed';

export interface RunSummary {
  readonly runId: string;
  readonly name: string;
  readonly environment: string;
  readonly seed: number;
  readonly recipeHash: string;
  readonly status: RunStatus;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly lastActivityAt: string | null;
  /** Rollout success rate over the run, at most 60 values. */
  readonly successCurve: readonly number[];
  /** Newest value of each metric. */
  readonly latest: Readonly<Record<string, number>>;
  readonly policyVersion: number | null;
}

export interface Baseline {
  readonly name: string;
  readonly success: number;
  readonly numEpisodes: number;
  readonly split: string;
}

export interface RunDetail extends RunSummary {
  readonly recipe: Json;
  readonly baselines: readonly Baseline[];
}

export interface MetricSeries {
  readonly name: string;
  readonly source: string;
  readonly steps: readonly number[];
  readonly values: readonly number[];
  /** Milliseconds since the Unix epoch. */
  readonly times: readonly number[];
}

export interface EpisodeSummary {
  readonly episodeId: string;
  readonly groupId: string;
  readonly groupMember: number;
  readonly environment: string;
  readonly split: string;
  readonly agent: string;
  readonly environmentSeed: number;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly sealed: boolean;
  readonly endReason: string | null;
  readonly success: boolean | null;
  readonly return: number | null;
  readonly numSteps: number | null;
  readonly numTokens: number | null;
  readonly numActionTokens: number | null;
  readonly policyVersionMin: number | null;
  readonly policyVersionMax: number | null;
}

export interface StepTokens {
  readonly ids: readonly number[];
  /** Text of each token; null when the tokenizer isn't known. */
  readonly texts: readonly string[] | null;
  readonly actionMask: readonly number[];
  readonly logprobs: readonly (number | null)[];
  /** Empty when the engine gave none. */
  readonly entropies: readonly (number | null)[];
  readonly policyVersions: readonly number[];
}

export interface StepDetail {
  readonly step: number;
  readonly observation: string;
  readonly action: string;
  readonly parsedAction: string | null;
  readonly actionValid: boolean;
  readonly anchor: string | null;
  readonly reward: number | null;
  readonly rewards: readonly { readonly name: string; readonly value: number | null }[];
  readonly terminated: boolean;
  readonly truncated: boolean;
  readonly info: Json;
  readonly keptPrefixTokens: number;
  readonly temperature: number | null;
  readonly greedy: boolean | null;
  readonly engine: string;
  readonly model: string;
  readonly generationMs: number;
  readonly environmentMs: number;
  readonly occurredAt: string;
  readonly tokens: StepTokens;
}

export interface EpisodeDetail extends EpisodeSummary {
  readonly task: Json;
  readonly finalObservation: string | null;
  /** Updates whose batches this episode is in. */
  readonly updateNumbers: readonly number[];
  readonly steps: readonly StepDetail[];
  /** First step that this answer left out; null when all are here. */
  readonly nextStep: number | null;
}

export interface Update {
  readonly updateNumber: number;
  readonly stage: string;
  readonly planId: string;
  readonly epoch: number;
  readonly policyVersionIn: number;
  readonly policyVersionOut: number | null;
  readonly numEpisodes: number;
  readonly plannedAt: string;
  readonly appliedAt: string | null;
  readonly metrics: Readonly<Record<string, number>>;
  readonly weightsSha256: string | null;
}

export type SqlValue =
  string | number | boolean | null | readonly SqlValue[] | { readonly [key: string]: SqlValue };

export interface SqlResult {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly SqlValue[])[];
  readonly numRows: number;
  readonly truncated: boolean;
  readonly elapsedMs: number;
}

export interface SqlTable {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

export interface Health {
  readonly status: 'ok' | 'starting' | 'degraded';
  readonly version: string;
  readonly store: { readonly state: string; readonly detail: string };
  readonly log: { readonly logId: string };
  readonly sink: { readonly state: string; readonly lagRecords: number | null };
}
