// Generated from apps/api/openapi.json by "npm run types -w @retrace/dashboard". Do not edit.

export interface paths {
    readonly "/api/runs/{runId}/live": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Streams the events of a run as they happen (server-sent events) */
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
        /** Reports the state of the store, the log and the sink */
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
        /** Lists runs, newest first */
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
        /** Returns one run with its recipe and baselines */
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
        /** Returns metrics of a run as series */
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
        /** Lists the episodes of a run */
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
        /** Returns one episode with its steps */
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
        /** Lists the updates of a run, newest first */
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
        /** Lists the policy versions of a run, newest first */
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
        /** Runs one SELECT as a read-only user, within limits */
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
        /** Lists the tables and columns that SQL may read */
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
            /** @description Why the store is not ready; empty when it is */
            readonly detail: string;
        };
        readonly LogHealth: {
            readonly logId: string;
        };
        readonly SinkHealth: {
            /**
             * @description `off`: the sink is another process
             * @enum {string}
             */
            readonly state: "off" | "waiting" | "running" | "backingOff" | "failed";
            /** @description Why the sink is not running; empty when it is */
            readonly detail: string;
            /** @description Records of the log that the store does not have yet; null until known */
            readonly lagRecords: number | null;
            /** @description 99th percentile of the time from an event to its row in the store, in ms; null until known */
            readonly visibleAfterMsP99: number | null;
        };
        readonly Health: {
            /**
             * @description `starting`: waiting for the store. `degraded`: the store or the sink has a fault
             * @enum {string}
             */
            readonly status: "ok" | "starting" | "degraded";
            readonly version: string;
            readonly store: components["schemas"]["StoreHealth"];
            readonly log: components["schemas"]["LogHealth"];
            readonly sink: components["schemas"]["SinkHealth"];
        };
        readonly RunListItem: {
            /** Format: uuid */
            readonly runId: string;
            readonly name: string;
            readonly environment: string;
            readonly seed: number;
            readonly recipeHash: string;
            /**
             * @description `idle`: the run has not ended, but it has logged nothing for 30 seconds
             * @enum {string}
             */
            readonly status: "running" | "idle" | "finished" | "stopped" | "failed";
            /** Format: date-time */
            readonly startedAt: string;
            /**
             * Format: date-time
             * @description null while the run goes on
             */
            readonly endedAt: string | null;
            /**
             * Format: date-time
             * @description Time of the newest control event
             */
            readonly lastActivityAt: string | null;
            /** @description Success rate of rollouts over the run, at most 60 values */
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
            /** @enum {string} */
            readonly split: "train" | "validation" | "test";
        };
        readonly RunDetail: {
            /** Format: uuid */
            readonly runId: string;
            readonly name: string;
            readonly environment: string;
            readonly seed: number;
            readonly recipeHash: string;
            /**
             * @description `idle`: the run has not ended, but it has logged nothing for 30 seconds
             * @enum {string}
             */
            readonly status: "running" | "idle" | "finished" | "stopped" | "failed";
            /** Format: date-time */
            readonly startedAt: string;
            /**
             * Format: date-time
             * @description null while the run goes on
             */
            readonly endedAt: string | null;
            /**
             * Format: date-time
             * @description Time of the newest control event
             */
            readonly lastActivityAt: string | null;
            /** @description Success rate of rollouts over the run, at most 60 values */
            readonly successCurve: readonly number[];
            /** @description Newest value of each metric */
            readonly latest: {
                readonly [key: string]: number;
            };
            /** @description Newest published policy version */
            readonly policyVersion: number | null;
            /** @description The recipe that was saved with the run */
            readonly recipe: unknown;
            readonly baselines: readonly components["schemas"]["RunBaseline"][];
            readonly codeVersion: string;
        };
        readonly MetricSeries: {
            readonly name: string;
            /** @enum {string} */
            readonly source: "trainer" | "collector" | "sink" | "evaluation" | "system";
            /** @description Ascending: update, round or policy version, depending on the source */
            readonly steps: readonly number[];
            /** @description Finite values, one for each step; steps without a value are left out */
            readonly values: readonly number[];
            /** @description Milliseconds since the Unix epoch, one for each step */
            readonly times: readonly number[];
        };
        readonly MetricSeriesList: {
            readonly series: readonly components["schemas"]["MetricSeries"][];
        };
        readonly EpisodeListItem: {
            /** Format: uuid */
            readonly episodeId: string;
            /** Format: uuid */
            readonly groupId: string;
            /** @description Position in its group, from 0 */
            readonly groupMember: number;
            readonly environment: string;
            /** @enum {string} */
            readonly split: "train" | "validation" | "test";
            readonly agent: string;
            readonly environmentSeed: number;
            /** Format: date-time */
            readonly startedAt: string;
            /**
             * Format: date-time
             * @description null until the episode ends
             */
            readonly endedAt: string | null;
            /** @description The episode has ended: its steps are complete and final */
            readonly sealed: boolean;
            /**
             * @description null until the episode ends
             * @enum {string|null}
             */
            readonly endReason: "terminated" | "truncated" | "abandoned" | null;
            /** @description null until the episode ends, or when the environment does not tell */
            readonly success: boolean | null;
            /** @description Sum of the rewards; null until the episode ends, or when every reward is missing */
            readonly return: number | null;
            /** @description null until the episode ends */
            readonly numSteps: number | null;
            /** @description null until the episode ends */
            readonly numTokens: number | null;
            /** @description Tokens that the policy sampled; null until the episode ends */
            readonly numActionTokens: number | null;
            /** @description Oldest policy version that sampled a token; null when no policy of this run did */
            readonly policyVersionMin: number | null;
            /** @description Newest policy version that sampled a token; null when no policy of this run did */
            readonly policyVersionMax: number | null;
        };
        readonly StepReward: {
            readonly name: string;
            /** @description null = missing, which is not zero */
            readonly value: number | null;
        };
        readonly StepTokens: {
            readonly ids: readonly number[];
            /** @description Text of each token; null when the tokenizer is unavailable */
            readonly texts: readonly string[] | null;
            /** @description 1 for a token that the policy sampled, otherwise 0 */
            readonly actionMask: readonly number[];
            /** @description Behavior logprobs in nats; null = missing */
            readonly logprobs: readonly (number | null)[];
            /** @description Entropies in nats; empty when the engine gave none */
            readonly entropies: readonly (number | null)[];
            /** @description Policy version of each token; −1 = no policy of this run */
            readonly policyVersions: readonly number[];
        };
        readonly StepDetail: {
            /** @description From 0 */
            readonly step: number;
            readonly observation: string;
            /** @description Text that the agent answered */
            readonly action: string;
            /** @description Action that the environment read from the text */
            readonly parsedAction: string | null;
            readonly actionValid: boolean;
            /** @description Text by which the environment identifies its state; null when it offers none */
            readonly anchor: string | null;
            /** @description null = missing, which is not zero */
            readonly reward: number | null;
            /** @description Components of the reward */
            readonly rewards: readonly components["schemas"]["StepReward"][];
            /** @description The environment ended the episode in this step */
            readonly terminated: boolean;
            /** @description The episode was cut off after this step */
            readonly truncated: boolean;
            /** @description What the environment reported beside the observation */
            readonly info: unknown;
            /** @description Tokens of the episode's context that this step's prompt kept */
            readonly keptPrefixTokens: number;
            /** @description null when no token was sampled */
            readonly temperature: number | null;
            /** @description null when no token was sampled */
            readonly greedy: boolean | null;
            /** @description Engine that sampled the action */
            readonly engine: string;
            readonly model: string;
            readonly generationMs: number;
            readonly environmentMs: number;
            /** Format: date-time */
            readonly occurredAt: string;
            readonly tokens: components["schemas"]["StepTokens"];
        };
        readonly EpisodeDetail: {
            /** Format: uuid */
            readonly episodeId: string;
            /** Format: uuid */
            readonly groupId: string;
            /** @description Position in its group, from 0 */
            readonly groupMember: number;
            readonly environment: string;
            /** @enum {string} */
            readonly split: "train" | "validation" | "test";
            readonly agent: string;
            readonly environmentSeed: number;
            /** Format: date-time */
            readonly startedAt: string;
            /**
             * Format: date-time
             * @description null until the episode ends
             */
            readonly endedAt: string | null;
            /** @description The episode has ended: its steps are complete and final */
            readonly sealed: boolean;
            /**
             * @description null until the episode ends
             * @enum {string|null}
             */
            readonly endReason: "terminated" | "truncated" | "abandoned" | null;
            /** @description null until the episode ends, or when the environment does not tell */
            readonly success: boolean | null;
            /** @description Sum of the rewards; null until the episode ends, or when every reward is missing */
            readonly return: number | null;
            /** @description null until the episode ends */
            readonly numSteps: number | null;
            /** @description null until the episode ends */
            readonly numTokens: number | null;
            /** @description Tokens that the policy sampled; null until the episode ends */
            readonly numActionTokens: number | null;
            /** @description Oldest policy version that sampled a token; null when no policy of this run did */
            readonly policyVersionMin: number | null;
            /** @description Newest policy version that sampled a token; null when no policy of this run did */
            readonly policyVersionMax: number | null;
            /** @description Task that the environment was reset with */
            readonly task: unknown;
            /** @description Observation after the last action; null until the episode ends */
            readonly finalObservation: string | null;
            /** @description Updates whose batches contain this episode */
            readonly updateNumbers: readonly number[];
            readonly steps: readonly components["schemas"]["StepDetail"][];
            /** @description First step after this answer; null when there is none */
            readonly nextStep: number | null;
        };
        readonly Update: {
            readonly updateNumber: number;
            /** @enum {string} */
            readonly stage: "policy" | "imitation";
            readonly planId: string;
            /** @description Epoch of the trainer that planned the update */
            readonly epoch: number;
            readonly policyVersionIn: number;
            /** @description null until the update is applied */
            readonly policyVersionOut: number | null;
            /** @description Episodes in the batch */
            readonly numEpisodes: number;
            /** Format: date-time */
            readonly plannedAt: string;
            /**
             * Format: date-time
             * @description null until the update is applied
             */
            readonly appliedAt: string | null;
            /** @description Metrics of the update; unavailable ones are left out */
            readonly metrics: {
                readonly [key: string]: number;
            };
            /** @description null until the update is applied */
            readonly weightsSha256: string | null;
        };
        readonly Policy: {
            readonly policyVersion: number;
            /** @description Version it was trained from; null for the first version */
            readonly parentVersion: number | null;
            /** @description Update that made this version */
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
             * @description Row limit; `truncated` tells whether the result has more rows
             * @default 1000
             */
            readonly maxRows?: number;
        };
        readonly SqlColumn: {
            readonly name: string;
            /**
             * @description ClickHouse type
             * @example Array(Int32)
             */
            readonly type: string;
        };
        readonly SqlResult: {
            readonly columns: readonly components["schemas"]["SqlColumn"][];
            /** @description Rows of values; integers beyond 2⁵³, NaN and infinities are text */
            readonly rows: readonly (readonly unknown[])[];
            readonly numRows: number;
            /** @description The result has more rows than `maxRows` */
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
            /**
             * @description Path of the field
             * @example limit
             */
            readonly field: string;
            /** @description Value that was sent, shortened; left out when the field was missing */
            readonly value?: (string | number | boolean) | null;
            /** @description Rule that the value breaks */
            readonly rule: string;
        };
        readonly ProblemBody: {
            /** @example urn:retrace:problem:invalid-request */
            readonly type: string;
            readonly title: string;
            /** @description HTTP status */
            readonly status: number;
            /** @enum {string} */
            readonly code: "INVALID_REQUEST" | "MALFORMED_BODY" | "UNSUPPORTED_MEDIA_TYPE" | "BODY_TOO_LARGE" | "HOST_NOT_ALLOWED" | "NOT_FOUND" | "SQL_REFUSED" | "SQL_FAILED" | "SQL_LIMIT_EXCEEDED" | "TOO_MANY_CLIENTS" | "STORE_STARTING" | "STORE_UNAVAILABLE" | "INTERNAL";
            /** @description What is wrong with this request */
            readonly detail: string;
            /** @description Path of the request */
            readonly instance: string;
            /** @description Every rule that the request breaks */
            readonly errors?: readonly components["schemas"]["ViolationBody"][];
        };
        readonly LiveMetrics: {
            /** @description Time of the event, milliseconds since the Unix epoch */
            readonly time: number;
            /** @enum {string} */
            readonly source: "trainer" | "collector" | "sink" | "evaluation" | "system";
            /** @description Update, round or policy version, depending on the source */
            readonly step: number;
            readonly names: readonly string[];
            /** @description One value for each name; null = unavailable */
            readonly values: readonly (number | null)[];
        };
        readonly LivePolicy: {
            /** @description Time of the event, milliseconds since the Unix epoch */
            readonly time: number;
            readonly policyVersion: number;
            readonly updateNumber: number;
        };
        readonly LiveUpdatePlanned: {
            /** @description Time of the event, milliseconds since the Unix epoch */
            readonly time: number;
            /** @enum {string} */
            readonly state: "planned";
            readonly updateNumber: number;
            readonly policyVersionIn: number;
            /** @enum {string} */
            readonly stage: "policy" | "imitation";
        };
        readonly LiveUpdateApplied: {
            /** @description Time of the event, milliseconds since the Unix epoch */
            readonly time: number;
            /** @enum {string} */
            readonly state: "applied";
            readonly updateNumber: number;
            readonly policyVersionOut: number;
        };
        readonly LiveRunStarted: {
            /** @description Time of the event, milliseconds since the Unix epoch */
            readonly time: number;
            /** @enum {string} */
            readonly state: "started";
            readonly name: string;
        };
        readonly LiveRunEnded: {
            /** @description Time of the event, milliseconds since the Unix epoch */
            readonly time: number;
            /** @enum {string} */
            readonly state: "ended";
            /** @enum {string} */
            readonly reason: "finished" | "stopped" | "failed";
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
export type LiveMetrics = components['schemas']['LiveMetrics'];
export type LivePolicy = components['schemas']['LivePolicy'];
export type LiveUpdatePlanned = components['schemas']['LiveUpdatePlanned'];
export type LiveUpdateApplied = components['schemas']['LiveUpdateApplied'];
export type LiveRunStarted = components['schemas']['LiveRunStarted'];
export type LiveRunEnded = components['schemas']['LiveRunEnded'];
export type $defs = Record<string, never>;
export interface operations {
    readonly LiveController_stream: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Id of the last message that the client received */
                readonly "Last-Event-ID"?: number;
            };
            readonly path: {
                /** @description Id of the run */
                readonly runId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Messages `metrics`, `policy`, `update` and `run`, with an id and data of the schemas named here; `heartbeat` every 15 seconds; `reset` when messages were missed and everything must be read again. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/event-stream": components["schemas"]["LiveMetrics"] | components["schemas"]["LivePolicy"] | components["schemas"]["LiveUpdatePlanned"] | components["schemas"]["LiveUpdateApplied"] | components["schemas"]["LiveRunStarted"] | components["schemas"]["LiveRunEnded"];
                };
            };
            /** @description An error */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["ProblemBody"];
                };
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
            /** @description An error */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    readonly RunsController_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Maximum number of items */
                readonly limit?: number;
                /** @description `nextCursor` of the previous page */
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
            /** @description An error */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    readonly RunsController_get: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @description Id of the run */
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
            /** @description An error */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    readonly MetricsController_series: {
        readonly parameters: {
            readonly query?: {
                /** @description Names of metrics, separated by commas; without it, all metrics */
                readonly names?: string;
                /** @description Only metrics that this process logged */
                readonly source?: "trainer" | "collector" | "sink" | "evaluation" | "system";
                /** @description Maximum number of points in a series; a longer series is cut into this many equal stretches, and each point is the mean of one */
                readonly maxPoints?: number;
            };
            readonly header?: never;
            readonly path: {
                /** @description Id of the run */
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
            /** @description An error */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    readonly EpisodesController_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Maximum number of items */
                readonly limit?: number;
                /** @description `nextCursor` of the previous page */
                readonly cursor?: string;
                /** @description Only episodes of this split */
                readonly split?: "train" | "validation" | "test";
                /** @description true: only episodes that succeeded; false: only episodes that failed */
                readonly success?: boolean;
                /** @description true: only episodes that have ended; false: only episodes in progress */
                readonly sealed?: boolean;
                /** @description Only episodes of this agent: policy, expert, random or the name of an external agent */
                readonly agent?: string;
                /** @description Only episodes of this group */
                readonly groupId?: string;
                /** @description Only episodes in the batch of this update */
                readonly update?: number;
                /** @description Which episodes come first, by their start */
                readonly sort?: "newest" | "oldest";
            };
            readonly header?: never;
            readonly path: {
                /** @description Id of the run */
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
            /** @description An error */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    readonly EpisodesController_get: {
        readonly parameters: {
            readonly query?: {
                /** @description `nextStep` of the previous answer */
                readonly fromStep?: number;
                /** @description Maximum number of steps; an answer of more than 100,000 tokens has fewer */
                readonly maxSteps?: number;
            };
            readonly header?: never;
            readonly path: {
                /** @description Id of the run */
                readonly runId: string;
                /** @description Id of the episode */
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
            /** @description An error */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    readonly UpdatesController_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Maximum number of items */
                readonly limit?: number;
                /** @description `nextCursor` of the previous page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description Id of the run */
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
            /** @description An error */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    readonly PoliciesController_list: {
        readonly parameters: {
            readonly query?: {
                /** @description Maximum number of items */
                readonly limit?: number;
                /** @description `nextCursor` of the previous page */
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path: {
                /** @description Id of the run */
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
            /** @description An error */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["ProblemBody"];
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
            /** @description An error */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["ProblemBody"];
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
            /** @description An error */
            readonly default: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
}
