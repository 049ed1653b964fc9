// Generated from apps/api/openapi.json by "npm run types -w @retrace/dashboard". Do not edit.

export interface paths {
    "/api/runs/{runId}/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Streams the events of a run as they happen (server-sent events) */
        get: operations["LiveController_stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reports the state of the store, the log and the sink */
        get: operations["HealthController_check"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists runs, newest first */
        get: operations["RunsController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one run with its recipe and baselines */
        get: operations["RunsController_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns metrics of a run as series */
        get: operations["MetricsController_series"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/episodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the episodes of a run */
        get: operations["EpisodesController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/episodes/{episodeId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one episode with its steps */
        get: operations["EpisodesController_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/updates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the updates of a run, newest first */
        get: operations["UpdatesController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/policies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the policy versions of a run, newest first */
        get: operations["PoliciesController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/warnings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the warnings and alarms of a run, newest first */
        get: operations["WarningsController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sql": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Runs one SELECT as a read-only user, within limits */
        post: operations["SqlController_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/sql/schema": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the tables and columns that SQL may read */
        get: operations["SqlController_schema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        StoreHealth: {
            /** @enum {string} */
            status: "up" | "degraded";
            /** @enum {string} */
            state: "starting" | "ready" | "unreachable" | "failed";
            /** @description Why the store is not ready; empty when it is */
            detail: string;
        };
        LogHealth: {
            logId: string;
        };
        SinkHealth: {
            /** @enum {string} */
            status: "up" | "degraded";
            /**
             * @description `off`: the sink is another process
             * @enum {string}
             */
            state: "off" | "waiting" | "running" | "backingOff" | "failed";
            /** @description Why the sink is not running; empty when it is */
            detail: string;
            /** @description Records of the log that the store does not have yet; null until known */
            lagRecords: number | null;
            /** @description 99th percentile of the time from an event to its row in the store, in ms; null until known */
            visibleAfterMsP99: number | null;
        };
        Health: {
            /**
             * @description `starting`: waiting for the store. `degraded`: the store or the sink has a fault
             * @enum {string}
             */
            status: "ok" | "starting" | "degraded";
            version: string;
            store: components["schemas"]["StoreHealth"];
            log: components["schemas"]["LogHealth"];
            sink: components["schemas"]["SinkHealth"];
        };
        RunListItem: {
            /** Format: uuid */
            runId: string;
            name: string;
            environment: string;
            seed: number;
            recipeHash: string;
            /**
             * @description `idle`: the run has not ended, but it has logged nothing for 30 seconds
             * @enum {string}
             */
            status: "running" | "idle" | "finished" | "stopped" | "failed";
            /** Format: date-time */
            startedAt: string;
            /**
             * Format: date-time
             * @description null while the run goes on
             */
            endedAt: string | null;
            /**
             * Format: date-time
             * @description Time of the newest control event
             */
            lastActivityAt: string | null;
            /** @description Success rate of rollouts over the run, at most 60 values */
            successCurve: number[];
            /** @description Newest value of each metric */
            latest: {
                [key: string]: number;
            };
            /** @description Newest published policy version */
            policyVersion: number | null;
        };
        RunBaseline: {
            name: string;
            /** @description Success rate in [0, 1] */
            success: number;
            numEpisodes: number;
            /** @enum {string} */
            split: "train" | "validation" | "test";
        };
        RunDetail: {
            /** Format: uuid */
            runId: string;
            name: string;
            environment: string;
            seed: number;
            recipeHash: string;
            /**
             * @description `idle`: the run has not ended, but it has logged nothing for 30 seconds
             * @enum {string}
             */
            status: "running" | "idle" | "finished" | "stopped" | "failed";
            /** Format: date-time */
            startedAt: string;
            /**
             * Format: date-time
             * @description null while the run goes on
             */
            endedAt: string | null;
            /**
             * Format: date-time
             * @description Time of the newest control event
             */
            lastActivityAt: string | null;
            /** @description Success rate of rollouts over the run, at most 60 values */
            successCurve: number[];
            /** @description Newest value of each metric */
            latest: {
                [key: string]: number;
            };
            /** @description Newest published policy version */
            policyVersion: number | null;
            /** @description The recipe that was saved with the run */
            recipe: unknown;
            baselines: components["schemas"]["RunBaseline"][];
            codeVersion: string;
        };
        MetricSeries: {
            name: string;
            /** @enum {string} */
            source: "trainer" | "collector" | "sink" | "evaluation" | "system";
            /** @description Ascending: update, round or policy version, depending on the source */
            steps: number[];
            /** @description Finite values, one for each step; steps without a value are left out */
            values: number[];
            /** @description Milliseconds since the Unix epoch, one for each step */
            times: number[];
        };
        MetricSeriesList: {
            series: components["schemas"]["MetricSeries"][];
        };
        EpisodeListItem: {
            /** Format: uuid */
            episodeId: string;
            /** Format: uuid */
            groupId: string;
            /** @description Position in its group, from 0 */
            groupMember: number;
            environment: string;
            /** @enum {string} */
            split: "train" | "validation" | "test";
            agent: string;
            environmentSeed: number;
            /** Format: date-time */
            startedAt: string;
            /**
             * Format: date-time
             * @description null until the episode ends
             */
            endedAt: string | null;
            /** @description The episode has ended: its steps are complete and final */
            sealed: boolean;
            /**
             * @description null until the episode ends
             * @enum {string|null}
             */
            endReason: "terminated" | "truncated" | "abandoned" | null;
            /** @description null until the episode ends, or when the environment does not tell */
            success: boolean | null;
            /** @description Sum of the rewards; null until the episode ends, or when every reward is missing */
            return: number | null;
            /** @description null until the episode ends */
            numSteps: number | null;
            /** @description null until the episode ends */
            numTokens: number | null;
            /** @description Tokens that the policy sampled; null until the episode ends */
            numActionTokens: number | null;
            /** @description Oldest policy version that sampled a token; null when no policy of this run did */
            policyVersionMin: number | null;
            /** @description Newest policy version that sampled a token; null when no policy of this run did */
            policyVersionMax: number | null;
        };
        StepReward: {
            name: string;
            /** @description null = missing, which is not zero */
            value: number | null;
        };
        StepTokens: {
            ids: number[];
            /** @description Text of each token; null when the tokenizer is unavailable */
            texts: string[] | null;
            /** @description 1 for a token that the policy sampled, otherwise 0 */
            actionMask: number[];
            /** @description Behavior logprobs in nats; null = missing */
            logprobs: (number | null)[];
            /** @description Entropies in nats; empty when the engine gave none */
            entropies: (number | null)[];
            /** @description Policy version of each token; −1 = no policy of this run */
            policyVersions: number[];
        };
        StepDetail: {
            /** @description From 0 */
            step: number;
            observation: string;
            /** @description Text that the agent answered */
            action: string;
            /** @description Action that the environment read from the text */
            parsedAction: string | null;
            actionValid: boolean;
            /** @description Text by which the environment identifies its state; null when it offers none */
            anchor: string | null;
            /** @description null = missing, which is not zero */
            reward: number | null;
            /** @description Components of the reward */
            rewards: components["schemas"]["StepReward"][];
            /** @description The environment ended the episode in this step */
            terminated: boolean;
            /** @description The episode was cut off after this step */
            truncated: boolean;
            /** @description What the environment reported beside the observation */
            info: unknown;
            /** @description Tokens of the episode's context that this step's prompt kept */
            keptPrefixTokens: number;
            /** @description null when no token was sampled */
            temperature: number | null;
            /** @description null when no token was sampled */
            greedy: boolean | null;
            /** @description Engine that sampled the action */
            engine: string;
            model: string;
            generationMs: number;
            environmentMs: number;
            /** Format: date-time */
            occurredAt: string;
            tokens: components["schemas"]["StepTokens"];
        };
        EpisodeDetail: {
            /** Format: uuid */
            episodeId: string;
            /** Format: uuid */
            groupId: string;
            /** @description Position in its group, from 0 */
            groupMember: number;
            environment: string;
            /** @enum {string} */
            split: "train" | "validation" | "test";
            agent: string;
            environmentSeed: number;
            /** Format: date-time */
            startedAt: string;
            /**
             * Format: date-time
             * @description null until the episode ends
             */
            endedAt: string | null;
            /** @description The episode has ended: its steps are complete and final */
            sealed: boolean;
            /**
             * @description null until the episode ends
             * @enum {string|null}
             */
            endReason: "terminated" | "truncated" | "abandoned" | null;
            /** @description null until the episode ends, or when the environment does not tell */
            success: boolean | null;
            /** @description Sum of the rewards; null until the episode ends, or when every reward is missing */
            return: number | null;
            /** @description null until the episode ends */
            numSteps: number | null;
            /** @description null until the episode ends */
            numTokens: number | null;
            /** @description Tokens that the policy sampled; null until the episode ends */
            numActionTokens: number | null;
            /** @description Oldest policy version that sampled a token; null when no policy of this run did */
            policyVersionMin: number | null;
            /** @description Newest policy version that sampled a token; null when no policy of this run did */
            policyVersionMax: number | null;
            /** @description Task that the environment was reset with */
            task: unknown;
            /** @description Observation after the last action; null until the episode ends */
            finalObservation: string | null;
            /** @description Updates whose batches contain this episode */
            updateNumbers: number[];
            steps: components["schemas"]["StepDetail"][];
            /** @description First step after this answer; null when there is none */
            nextStep: number | null;
        };
        Update: {
            updateNumber: number;
            /** @enum {string} */
            stage: "policy" | "imitation";
            planId: string;
            /** @description Epoch of the trainer that planned the update */
            epoch: number;
            policyVersionIn: number;
            /** @description null until the update is applied */
            policyVersionOut: number | null;
            /** @description Episodes in the batch */
            numEpisodes: number;
            /** Format: date-time */
            plannedAt: string;
            /**
             * Format: date-time
             * @description null until the update is applied
             */
            appliedAt: string | null;
            /** @description Metrics of the update; unavailable ones are left out */
            metrics: {
                [key: string]: number;
            };
            /** @description null until the update is applied */
            weightsSha256: string | null;
        };
        Policy: {
            policyVersion: number;
            /** @description Version it was trained from; null for the first version */
            parentVersion: number | null;
            /** @description Update that made this version */
            updateNumber: number;
            weightsSha256: string;
            weightsSizeBytes: number;
            /** @description Hash of architecture and tokenizer */
            modelHash: string;
            /** Format: date-time */
            publishedAt: string;
        };
        RunWarning: {
            /**
             * @description Process that warns; `system` is the supervisor
             * @enum {string}
             */
            source: "trainer" | "collector" | "sink" | "api" | "store" | "system";
            /**
             * @description `alarm`: the run does not do what it is for
             * @enum {string}
             */
            severity: "warning" | "alarm";
            /** @description Update (trainer) or round (collector) that it belongs to */
            step: number | null;
            message: string;
            /** @description How often the process had said this by then; not every repetition is listed */
            numTimes: number;
            /** Format: date-time */
            raisedAt: string;
        };
        SqlRequest: {
            /**
             * @description One SELECT over the tables of `/api/sql/schema`
             * @example SELECT count() FROM steps
             */
            query: string;
            /**
             * @description Row limit; `truncated` tells whether the result has more rows
             * @default 1000
             */
            maxRows?: number;
        };
        SqlColumn: {
            name: string;
            /**
             * @description ClickHouse type
             * @example Array(Int32)
             */
            type: string;
        };
        SqlResult: {
            columns: components["schemas"]["SqlColumn"][];
            /** @description Rows of values; integers beyond 2⁵³, NaN and infinities are text */
            rows: unknown[][];
            numRows: number;
            /** @description The result has more rows than `maxRows` */
            truncated: boolean;
            elapsedMs: number;
        };
        SqlTable: {
            name: string;
            columns: components["schemas"]["SqlColumn"][];
        };
        SqlSchema: {
            tables: components["schemas"]["SqlTable"][];
        };
        ViolationBody: {
            /**
             * @description Path of the field
             * @example limit
             */
            field: string;
            /** @description Value that was sent, shortened; left out when the field was missing */
            value?: (string | number | boolean) | null;
            /** @description Rule that the value breaks */
            rule: string;
        };
        ProblemBody: {
            /** @example urn:retrace:problem:invalid-request */
            type: string;
            title: string;
            /** @description HTTP status */
            status: number;
            /** @enum {string} */
            code: "INVALID_REQUEST" | "MALFORMED_BODY" | "UNSUPPORTED_MEDIA_TYPE" | "BODY_TOO_LARGE" | "HOST_NOT_ALLOWED" | "NOT_FOUND" | "SQL_REFUSED" | "SQL_FAILED" | "SQL_LIMIT_EXCEEDED" | "TOO_MANY_CLIENTS" | "STORE_STARTING" | "STORE_UNAVAILABLE" | "LOG_UNAVAILABLE" | "SHUTTING_DOWN" | "INTERNAL";
            /** @description What is wrong with this request */
            detail: string;
            /** @description Path of the request */
            instance: string;
            /** @description Every rule that the request breaks */
            errors?: components["schemas"]["ViolationBody"][];
        };
        LiveMetrics: {
            /** @description Time of the event, milliseconds since the Unix epoch */
            time: number;
            /** @enum {string} */
            source: "trainer" | "collector" | "sink" | "evaluation" | "system";
            /** @description Update, round or policy version, depending on the source */
            step: number;
            names: string[];
            /** @description One value for each name; null = unavailable */
            values: (number | null)[];
        };
        LivePolicy: {
            /** @description Time of the event, milliseconds since the Unix epoch */
            time: number;
            policyVersion: number;
            updateNumber: number;
        };
        LiveUpdatePlanned: {
            /** @description Time of the event, milliseconds since the Unix epoch */
            time: number;
            /** @enum {string} */
            state: "planned";
            updateNumber: number;
            policyVersionIn: number;
            /** @enum {string} */
            stage: "policy" | "imitation";
        };
        LiveUpdateApplied: {
            /** @description Time of the event, milliseconds since the Unix epoch */
            time: number;
            /** @enum {string} */
            state: "applied";
            updateNumber: number;
            policyVersionOut: number;
        };
        LiveWarning: {
            /** @description Time of the event, milliseconds since the Unix epoch */
            time: number;
            /**
             * @description Process that warns; `system` is the supervisor
             * @enum {string}
             */
            source: "trainer" | "collector" | "sink" | "api" | "store" | "system";
            /**
             * @description `alarm`: the run does not do what it is for
             * @enum {string}
             */
            severity: "warning" | "alarm";
            /** @description Update (trainer) or round (collector) that it belongs to */
            step: number | null;
            message: string;
            /** @description How often the process had said this by then; not every repetition is listed */
            numTimes: number;
        };
        LiveRunStarted: {
            /** @description Time of the event, milliseconds since the Unix epoch */
            time: number;
            /** @enum {string} */
            state: "started";
            name: string;
        };
        LiveRunEnded: {
            /** @description Time of the event, milliseconds since the Unix epoch */
            time: number;
            /** @enum {string} */
            state: "ended";
            /** @enum {string} */
            reason: "finished" | "stopped" | "failed";
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
export type RunWarning = components['schemas']['RunWarning'];
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
export type LiveWarning = components['schemas']['LiveWarning'];
export type LiveRunStarted = components['schemas']['LiveRunStarted'];
export type LiveRunEnded = components['schemas']['LiveRunEnded'];
export type $defs = Record<string, never>;
export interface operations {
    LiveController_stream: {
        parameters: {
            query?: never;
            header?: {
                /** @description Id of the last message that the client received */
                "Last-Event-ID"?: number;
            };
            path: {
                /** @description Id of the run */
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Messages `metrics`, `policy`, `update` and `run`, with an id and data of the schemas named here; `heartbeat` every 15 seconds; `reset` when messages were missed and everything must be read again. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["LiveMetrics"] | components["schemas"]["LivePolicy"] | components["schemas"]["LiveUpdatePlanned"] | components["schemas"]["LiveUpdateApplied"] | components["schemas"]["LiveWarning"] | components["schemas"]["LiveRunStarted"] | components["schemas"]["LiveRunEnded"];
                };
            };
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    HealthController_check: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    RunsController_list: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description `nextCursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["RunListItem"][];
                        /** @description null on the last page */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    RunsController_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run */
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunDetail"];
                };
            };
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    MetricsController_series: {
        parameters: {
            query?: {
                /** @description Names of metrics, separated by commas; without it, all metrics */
                names?: string;
                /** @description Only metrics that this process logged */
                source?: "trainer" | "collector" | "sink" | "evaluation" | "system";
                /** @description Maximum number of points in a series; a longer series is cut into this many equal stretches, and each point is the mean of one */
                maxPoints?: number;
            };
            header?: never;
            path: {
                /** @description Id of the run */
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MetricSeriesList"];
                };
            };
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    EpisodesController_list: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description `nextCursor` of the previous page */
                cursor?: string;
                /** @description Only episodes of this split */
                split?: "train" | "validation" | "test";
                /** @description true: only episodes that succeeded; false: only episodes that failed */
                success?: boolean;
                /** @description true: only episodes that have ended; false: only episodes in progress */
                sealed?: boolean;
                /** @description Only episodes of this agent: policy, expert, random or the name of an external agent */
                agent?: string;
                /** @description Only episodes of this group */
                groupId?: string;
                /** @description Only episodes in the batch of this update */
                update?: number;
                /** @description Which episodes come first, by their start */
                sort?: "newest" | "oldest";
            };
            header?: never;
            path: {
                /** @description Id of the run */
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["EpisodeListItem"][];
                        /** @description null on the last page */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    EpisodesController_get: {
        parameters: {
            query?: {
                /** @description `nextStep` of the previous answer */
                fromStep?: number;
                /** @description Maximum number of steps; an answer of more than 100,000 tokens has fewer */
                maxSteps?: number;
            };
            header?: never;
            path: {
                /** @description Id of the run */
                runId: string;
                /** @description Id of the episode */
                episodeId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EpisodeDetail"];
                };
            };
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    UpdatesController_list: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description `nextCursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run */
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Update"][];
                        /** @description null on the last page */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    PoliciesController_list: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description `nextCursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run */
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["Policy"][];
                        /** @description null on the last page */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    WarningsController_list: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description `nextCursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run */
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["RunWarning"][];
                        /** @description null on the last page */
                        nextCursor: string | null;
                    };
                };
            };
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    SqlController_run: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SqlRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SqlResult"];
                };
            };
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
    SqlController_schema: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SqlSchema"];
                };
            };
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                };
            };
        };
    };
}
