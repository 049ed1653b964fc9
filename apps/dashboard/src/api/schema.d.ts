// Generated from apps/api/openapi.json by "npm run types -w @retrace/dashboard". Do not edit.

export interface paths {
    readonly "/api/runs/{runId}/live": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["LiveController_stream"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/health": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["HealthController_check"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/runs": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["RunsController_list"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/runs/{runId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["RunsController_get"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/runs/{runId}/metrics": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["MetricsController_series"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/runs/{runId}/episodes": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["EpisodesController_list"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/runs/{runId}/episodes/{episodeId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["EpisodesController_get"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/runs/{runId}/updates": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["UpdatesController_list"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/runs/{runId}/policies": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["PoliciesController_list"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/sql": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["SqlController_run"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/sql/schema": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["SqlController_schema"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        readonly StoreHealth: {
            /** @enum {string} */
            readonly state: "starting" | "ready" | "unreachable" | "failed";
            /** @description Why, where it is not ready */
            readonly detail: string;
        };
        readonly LogHealth: {
            readonly logId: string;
        };
        readonly SinkHealth: {
            /** @enum {string} */
            readonly state: "off" | "waiting" | "running" | "backingOff" | "failed";
            readonly detail: string;
            /** @description Records that the log has and the store lacks; null until known */
            readonly lagRecords: number | null;
            /** @description From an event to its place in the store, 99th percentile */
            readonly visibleAfterMsP99: number | null;
        };
        readonly Health: {
            /**
             * @description Always with status 200: the process itself is up
             * @enum {string}
             */
            readonly status: "ok" | "starting" | "degraded";
            readonly version: string;
            readonly store: components["schemas"]["StoreHealth"];
            readonly log: components["schemas"]["LogHealth"];
            readonly sink: components["schemas"]["SinkHealth"];
        };
        readonly RunListItem: {
            readonly runId: string;
            readonly name: string;
            readonly environment: string;
            readonly seed: number;
            readonly recipeHash: string;
            /**
             * @description `idle`: not ended, but no event for half a minute
             * @enum {string}
             */
            readonly status: "running" | "idle" | "finished" | "stopped" | "failed";
            /** Format: date-time */
            readonly startedAt: string;
            /** Format: date-time */
            readonly endedAt: string | null;
            /**
             * Format: date-time
             * @description Newest control event
             */
            readonly lastActivityAt: string | null;
            /** @description Rollout success rate over the run, at most 60 values */
            readonly successCurve: readonly number[];
            /** @description Newest value of each metric */
            readonly latest: {
                readonly [key: string]: number;
            };
            /** @description Newest published policy version */
            readonly policyVersion: number | null;
        };
        readonly RunBaseline: {
            readonly name: string;
            /** @description Success rate in [0, 1] */
            readonly success: number;
            readonly numEpisodes: number;
            readonly split: string;
        };
        readonly RunDetail: {
            readonly runId: string;
            readonly name: string;
            readonly environment: string;
            readonly seed: number;
            readonly recipeHash: string;
            /**
             * @description `idle`: not ended, but no event for half a minute
             * @enum {string}
             */
            readonly status: "running" | "idle" | "finished" | "stopped" | "failed";
            /** Format: date-time */
            readonly startedAt: string;
            /** Format: date-time */
            readonly endedAt: string | null;
            /**
             * Format: date-time
             * @description Newest control event
             */
            readonly lastActivityAt: string | null;
            /** @description Rollout success rate over the run, at most 60 values */
            readonly successCurve: readonly number[];
            /** @description Newest value of each metric */
            readonly latest: {
                readonly [key: string]: number;
            };
            /** @description Newest published policy version */
            readonly policyVersion: number | null;
            /** @description x */
            readonly recipe: components["schemas"]["Json"];
            readonly baselines: readonly components["schemas"]["RunBaseline"][];
            readonly codeVersion: string;
        };
        readonly MetricSeries: {
            readonly name: string;
            /** @enum {string} */
            readonly source: "trainer" | "collector" | "sink" | "evaluation" | "system";
            /** @description Ascending: update, round or policy version, by source */
            readonly steps: readonly number[];
            /** @description Finite; steps without a value are left out */
            readonly values: readonly number[];
            /** @description Milliseconds since the Unix epoch */
            readonly times: readonly number[];
        };
        readonly MetricSeriesList: {
            readonly series: readonly components["schemas"]["MetricSeries"][];
        };
        readonly EpisodeListItem: {
            readonly episodeId: string;
            readonly groupId: string;
            readonly groupMember: number;
            readonly environment: string;
            readonly split: string;
            readonly agent: string;
            readonly environmentSeed: number;
            /** Format: date-time */
            readonly startedAt: string;
            /** Format: date-time */
            readonly endedAt: string | null;
            /** @description It ended: its steps are complete and final */
            readonly sealed: boolean;
            /** @enum {string|null} */
            readonly endReason: "terminated" | "truncated" | "abandoned" | null;
            readonly success: boolean | null;
            /** @description null when every reward is missing */
            readonly return: number | null;
            readonly numSteps: number | null;
            readonly numTokens: number | null;
            readonly numActionTokens: number | null;
            /** @description null when no policy of this run sampled in it */
            readonly policyVersionMin: number | null;
            readonly policyVersionMax: number | null;
        };
        readonly StepReward: {
            readonly name: string;
            readonly value: number | null;
        };
        readonly StepTokens: {
            readonly ids: readonly number[];
            /** @description Text of each token; null without the tokenizer */
            readonly texts: readonly string[] | null;
            /** @description 1 where the policy sampled the token */
            readonly actionMask: readonly number[];
            readonly logprobs: readonly (number | null)[];
            readonly entropies: readonly (number | null)[];
            /** @description Policy version of each token; −1 = no policy of this run */
            readonly policyVersions: readonly number[];
        };
        readonly StepDetail: {
            readonly step: number;
            readonly observation: string;
            readonly action: string;
            readonly parsedAction: string | null;
            readonly actionValid: boolean;
            readonly anchor: string | null;
            /** @description null = missing, which is not zero */
            readonly reward: number | null;
            readonly rewards: readonly components["schemas"]["StepReward"][];
            readonly terminated: boolean;
            readonly truncated: boolean;
            readonly info: components["schemas"]["Json"];
            /** @description Tokens of the episode's context that this step's prompt kept */
            readonly keptPrefixTokens: number;
            /** @description null where nothing was sampled */
            readonly temperature: number | null;
            readonly greedy: boolean | null;
            readonly engine: string;
            readonly model: string;
            readonly generationMs: number;
            readonly environmentMs: number;
            /** Format: date-time */
            readonly occurredAt: string;
            readonly tokens: components["schemas"]["StepTokens"];
        };
        readonly EpisodeDetail: {
            readonly episodeId: string;
            readonly groupId: string;
            readonly groupMember: number;
            readonly environment: string;
            readonly split: string;
            readonly agent: string;
            readonly environmentSeed: number;
            /** Format: date-time */
            readonly startedAt: string;
            /** Format: date-time */
            readonly endedAt: string | null;
            /** @description It ended: its steps are complete and final */
            readonly sealed: boolean;
            /** @enum {string|null} */
            readonly endReason: "terminated" | "truncated" | "abandoned" | null;
            readonly success: boolean | null;
            /** @description null when every reward is missing */
            readonly return: number | null;
            readonly numSteps: number | null;
            readonly numTokens: number | null;
            readonly numActionTokens: number | null;
            /** @description null when no policy of this run sampled in it */
            readonly policyVersionMin: number | null;
            readonly policyVersionMax: number | null;
            readonly task: components["schemas"]["Json"];
            /** @description After the last action; null until the episode ends */
            readonly finalObservation: string | null;
            /** @description Updates whose batches it is in */
            readonly updateNumbers: readonly number[];
            readonly steps: readonly components["schemas"]["StepDetail"][];
            /** @description First step that is not in this answer; null when none is left */
            readonly nextStep: number | null;
        };
        readonly Update: {
            readonly updateNumber: number;
            /** @enum {string} */
            readonly stage: "policy" | "imitation";
            readonly planId: string;
            /** @description Of the trainer that planned it */
            readonly epoch: number;
            readonly policyVersionIn: number;
            /** @description null until it is applied */
            readonly policyVersionOut: number | null;
            /** @description Episodes in the batch */
            readonly numEpisodes: number;
            /** Format: date-time */
            readonly plannedAt: string;
            /** Format: date-time */
            readonly appliedAt: string | null;
            readonly metrics: {
                readonly [key: string]: number;
            };
            readonly weightsSha256: string | null;
        };
        readonly Policy: {
            readonly policyVersion: number;
            /** @description Version it was trained from; null for the first */
            readonly parentVersion: number | null;
            readonly updateNumber: number;
            readonly weightsSha256: string;
            readonly weightsSizeBytes: number;
            /** @description Hash of architecture and tokenizer */
            readonly modelHash: string;
            /** Format: date-time */
            readonly publishedAt: string;
        };
        readonly SqlRequest: {
            /**
             * @description One SELECT over the tables of `/api/sql/schema`
             * @example SELECT count() FROM steps
             */
            readonly query: string;
            /**
             * @description Rows returned; `truncated` tells if there are more
             * @default 1000
             */
            readonly maxRows: number;
        };
        readonly SqlColumn: {
            readonly name: string;
            /** @description The store's own name of the type */
            readonly type: string;
        };
        readonly SqlResult: {
            readonly columns: readonly components["schemas"]["SqlColumn"][];
            readonly rows: readonly (readonly components["schemas"]["Json"][])[];
            readonly numRows: number;
            readonly truncated: boolean;
            readonly elapsedMs: number;
        };
        readonly SqlTable: {
            readonly name: string;
            readonly columns: readonly components["schemas"]["SqlColumn"][];
        };
        readonly SqlSchema: {
            readonly tables: readonly components["schemas"]["SqlTable"][];
        };
        readonly ViolationBody: {
            readonly field: string;
            /** @description What was given, shortened */
            readonly value?: string;
            readonly rule: string;
        };
        readonly ProblemBody: {
            readonly type: string;
            readonly title: string;
            readonly status: number;
            /** @enum {string} */
            readonly code: "INVALID_REQUEST" | "MALFORMED_BODY" | "UNSUPPORTED_MEDIA_TYPE" | "BODY_TOO_LARGE" | "HOST_NOT_ALLOWED" | "NOT_FOUND" | "SQL_REFUSED" | "SQL_FAILED" | "SQL_LIMIT_EXCEEDED" | "TOO_MANY_CLIENTS" | "STORE_STARTING" | "STORE_UNAVAILABLE" | "INTERNAL";
            readonly detail: string;
            /** @description Path that was asked for */
            readonly instance: string;
            readonly errors?: readonly components["schemas"]["ViolationBody"][];
        };
        /** @description Any JSON value */
        readonly Json: (boolean | number | string | readonly components["schemas"]["Json"][] | {
            readonly [key: string]: components["schemas"]["Json"];
        }) | null;
        readonly LiveMetrics: {
            readonly time: number;
            /** @enum {string} */
            readonly source: "trainer" | "collector" | "sink" | "evaluation" | "system";
            readonly step: number;
            readonly names: readonly string[];
            readonly values: readonly (number | null)[];
        };
        readonly LivePolicy: {
            readonly time: number;
            readonly policyVersion: number;
            readonly updateNumber: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type StoreHealth = components['schemas']['StoreHealth'];
export type LogHealth = components['schemas']['LogHealth'];
export type SinkHealth = components['schemas']['SinkHealth'];
export type Health = components['schemas']['Health'];
export type RunListItem = components['schemas']['RunListItem'];
export type RunBaseline = components['schemas']['RunBaseline'];
export type RunDetail = components['schemas']['RunDetail'];
export type MetricSeries = components['schemas']['MetricSeries'];
export type MetricSeriesList = components['schemas']['MetricSeriesList'];
export type EpisodeListItem = components['schemas']['EpisodeListItem'];
export type StepReward = components['schemas']['StepReward'];
export type StepTokens = components['schemas']['StepTokens'];
export type StepDetail = components['schemas']['StepDetail'];
export type EpisodeDetail = components['schemas']['EpisodeDetail'];
export type Update = components['schemas']['Update'];
export type Policy = components['schemas']['Policy'];
export type SqlRequest = components['schemas']['SqlRequest'];
export type SqlColumn = components['schemas']['SqlColumn'];
export type SqlResult = components['schemas']['SqlResult'];
export type SqlTable = components['schemas']['SqlTable'];
export type SqlSchema = components['schemas']['SqlSchema'];
export type ViolationBody = components['schemas']['ViolationBody'];
export type ProblemBody = components['schemas']['ProblemBody'];
export type Json = components['schemas']['Json'];
export type LiveMetrics = components['schemas']['LiveMetrics'];
export type LivePolicy = components['schemas']['LivePolicy'];
export type $defs = Record<string, never>;
export interface operations {
    readonly LiveController_stream: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Offset of the last message that was received */
                readonly "Last-Event-ID"?: string;
            };
            readonly path: {
                /** @description The run */
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Events metrics, policy, update, run; heartbeat; reset (read everything anew) */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly HealthController_check: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    readonly RunsController_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Most items returned */
                readonly limit?: number;
                /** @description `nextCursor` of the page before */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["RunListItem"][];
                        /** @description null on the last page */
                        readonly nextCursor: string | null;
                    };
                };
            };
        };
    };
    readonly RunsController_get: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description The run */
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RunDetail"];
                };
            };
        };
    };
    readonly MetricsController_series: {
        readonly parameters: {
            readonly query?: {
                /** @description Names separated by commas; all metrics when left out */
                readonly names?: string;
                /** @description Who logged them; everyone when left out */
                readonly source?: "trainer" | "collector" | "sink" | "evaluation" | "system";
                /** @description Most points of a series; a longer one is cut into as many equal stretches, each shown by its mean */
                readonly maxPoints?: number;
            };
            readonly header?: never;
            readonly path: {
                /** @description The run */
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MetricSeriesList"];
                };
            };
        };
    };
    readonly EpisodesController_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Most items returned */
                readonly limit?: number;
                /** @description `nextCursor` of the page before */
                readonly cursor?: string;
                readonly split?: "train" | "validation" | "test";
                /** @description Only episodes that succeeded, or only those that failed */
                readonly success?: boolean;
                /** @description Only episodes that ended, or only those in progress */
                readonly sealed?: boolean;
                /** @description Who acted: policy, expert, random or the name of an external agent */
                readonly agent?: string;
                /** @description Only the members of one group */
                readonly groupId?: string;
                /** @description Only the batch of one update */
                readonly update?: number;
                /** @description Order by start */
                readonly sort?: "newest" | "oldest";
            };
            readonly header?: never;
            readonly path: {
                /** @description The run */
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["EpisodeListItem"][];
                        /** @description null on the last page */
                        readonly nextCursor: string | null;
                    };
                };
            };
        };
    };
    readonly EpisodesController_get: {
        readonly parameters: {
            readonly query?: {
                /** @description `nextStep` of the answer before */
                readonly fromStep?: number;
                /** @description Most steps returned; fewer where tokens are many */
                readonly maxSteps?: number;
            };
            readonly header?: never;
            readonly path: {
                /** @description The run */
                readonly runId: string;
                /** @description The episode */
                readonly episodeId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["EpisodeDetail"];
                };
            };
        };
    };
    readonly UpdatesController_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Most items returned */
                readonly limit?: number;
                /** @description `nextCursor` of the page before */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description The run */
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Update"][];
                        /** @description null on the last page */
                        readonly nextCursor: string | null;
                    };
                };
            };
        };
    };
    readonly PoliciesController_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Most items returned */
                readonly limit?: number;
                /** @description `nextCursor` of the page before */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description The run */
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly items: readonly components["schemas"]["Policy"][];
                        /** @description null on the last page */
                        readonly nextCursor: string | null;
                    };
                };
            };
        };
    };
    readonly SqlController_run: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SqlRequest"];
            };
        };
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SqlResult"];
                };
            };
        };
    };
    readonly SqlController_schema: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SqlSchema"];
                };
            };
        };
    };
}
