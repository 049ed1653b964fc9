// Generated from apps/api/openapi.json by "npm run types -w @retrace/dashboard". Do not edit.

export interface paths {
    "/api/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Says whether requests need a key, and which one this request has */
        get: operations["SessionController_status"];
        put?: never;
        /** Logs a browser in by a key: answers with a cookie */
        post: operations["SessionController_logIn"];
        /** Logs out */
        delete: operations["SessionController_logOut"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
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
        /** Lists runs, newest first unless another order is asked for */
        get: operations["RunsController_list"];
        put?: never;
        /** Starts a run that agents outside of Retrace record */
        post: operations["IngestController_start"];
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
        /**
         * Changes tags, notes, star or archive of a run
         * @description Answers once the store shows it. What is left out stays as it was; earlier ones stay in the log.
         */
        patch: operations["IngestController_annotate"];
        trace?: never;
    };
    "/api/runs/{runId}/recipe-differences/{otherRunId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the fields in which the recipes of two runs differ */
        get: operations["RunsController_compareRecipes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/totals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Counts the episodes, steps, tokens and cost of a run
         * @description Of a run with very many episodes the answer may be ten seconds old, or as old as one reading of the store takes if that is longer, and have episodes that another process deleted meanwhile.
         */
        get: operations["RunsController_getTotals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/recipes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the built-in recipes, and the algorithms that can train them */
        get: operations["RunQueueController_options"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the run that this server trains, those that wait, and those that ended lately */
        get: operations["RunQueueController_show"];
        put?: never;
        /**
         * Starts a run of a built-in recipe or of that of another run, or queues it behind the run that is trained
         * @description One run is trained at a time, in the order of the requests; at most 20 wait. They wait through a restart of the server. An unfinished run of the same recipe is resumed. Answered with 501 by an API without a supervisor, and with 504 where the supervisor is late, which may still do it: the queue shows that.
         */
        post: operations["RunQueueController_start"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/queue/{queueId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Cancels a run that waits */
        delete: operations["RunQueueController_cancel"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/training": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stops the run that this server trains, or resumes one that has not ended
         * @description A run that was stopped can be resumed. Resuming waits in the queue behind the run that is trained.
         */
        post: operations["RunQueueController_change"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the address at which agents are answered by the newest policy, and recorded */
        get: operations["AgentsController_show"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/answers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Asks a policy of a run; the question is recorded as the calls of agents are
         * @description A question is recorded, so a key needs the scope `ingest`. Answered with 404 where the server runs no proxy for agents, where that passes calls on to another model server, or where the run has no policy whose weights are kept, and with 503 while none can be loaded.
         */
        post: operations["AgentsController_ask"];
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
        /**
         * Returns metrics of a run as series
         * @description Of a run that trains, the answer may be ten seconds old, or as old as one reading of the store takes if that is longer; this holds for records that were stored before the question, too. Of a run whose log this server does not follow, it may be over a minute old.
         */
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
        /** Deletes an episode for ever, from log and store */
        delete: operations["DeletionController_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/episodes/{episodeId}/steps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns steps of an episode, without what else is known of it */
        get: operations["EpisodesController_getSteps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/episodes/{episodeId}/branches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the agents that an episode called, and the forks of its steps */
        get: operations["EpisodesController_listBranches"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/delete-episodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deletes all episodes with a tag for ever, from log and store */
        post: operations["DeletionController_deleteTagged"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/retention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How long the episodes of a run are kept */
        get: operations["RetentionController_get"];
        put?: never;
        /**
         * Sets how long the episodes of a run are kept
         * @description Applied about once an hour. Episodes that updates were trained on are kept.
         */
        post: operations["RetentionController_set"];
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
        /**
         * Records an update that a trainer outside made, with the episodes that it was made of
         * @description In a recorded run. The episodes may be of any run. The policy that it made is published as the next version. A request that is sent again with its `id` is recorded once.
         */
        post: operations["OutsideUpdatesController_recordUpdate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/updates/{updateNumber}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows one update of a run */
        get: operations["UpdatesController_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/updates/{updateNumber}/inputs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the episodes that fed an update */
        get: operations["UpdatesController_inputs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/updates/{updateNumber}/inputs/{episodeId}/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Shows what the loss of an update read of each token of an episode
         * @description Recorded where the recipe has `updateTokens`; all lists are empty where it has not.
         */
        get: operations["UpdatesController_tokens"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/updates/{updateNumber}/lineage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows which policies sampled the episodes of an update, and which updates its own policy fed */
        get: operations["UpdatesController_lineage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/updates/{updateNumber}/distributions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows how returns, advantages, weights, ratios, ages and lengths of the episodes of an update are distributed */
        get: operations["UpdatesController_distributions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/batches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Makes a batch for another trainer: tokens with advantages, weights and logprobs
         * @description Of the episodes of a committed update, or of groups that are drawn from the run; computed as for an update of the run, with the changes in `set`. Rows are sequences; the lists of a row have a value for each token. Made in the process that answers what-ifs and replays, one after the other, and nothing is recorded. The answer begins once the batch is made; a request that is broken off cancels it.
         */
        post: operations["BatchesController_make"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/what-ifs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the what-ifs of a run that this server has, newest first */
        get: operations["WhatIfsController_list"];
        put?: never;
        /**
         * Asks what recorded updates would have been under another reward, estimator, loss, clip or correction
         * @description Computed in a process of its own, one what-if after the other; ask for it again until its status is `finished`, `failed` or `cancelled`. Nothing is published. The server forgets what-ifs when it stops, and old ones.
         */
        post: operations["WhatIfsController_ask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/what-ifs/{whatIfId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns a what-if, with the updates that are compared so far */
        get: operations["WhatIfsController_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Cancels a what-if; one that has ended stays as it is */
        patch: operations["WhatIfsController_cancel"];
        trace?: never;
    };
    "/api/runs/{runId}/replays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Makes a recorded update again, and compares it with what was recorded
         * @description From the same weights and optimizer state, on the same stored episodes, in a process of its own; ask for it again until its status is `finished`, `failed` or `cancelled`. Nothing is written. The server forgets replays when it stops, and old ones.
         */
        post: operations["ReplaysController_ask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/replays/{replayId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns a replay, with its result once it has finished */
        get: operations["ReplaysController_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Cancels a replay; one that has ended stays as it is */
        patch: operations["ReplaysController_cancel"];
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
        /**
         * Publishes a policy of a trainer outside that no update of the run made
         * @description In a recorded run: such as the policy that training starts from, as version 0.
         */
        post: operations["OutsideUpdatesController_publishPolicy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/alarms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the alarms of all runs that are not archived, the newest first, and what people did about them */
        get: operations["AlarmListController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/alarms/silences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the silences that hold, those that end last first */
        get: operations["AlarmListController_listSilences"];
        put?: never;
        /**
         * Silences the alarms of a rule in one run or in all, or ends their silence
         * @description Such alarms are listed and sent to no webhook. In place of a silence of the same rule and run. What is ended must hold: in exactly this run, or in all where none is named, which needs a key of scope `admin`. Answers once the store shows it, or is too far behind.
         */
        post: operations["AlarmsController_silence"];
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
    "/api/alarms/acknowledgements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Acknowledges an alarm
         * @description Its newest occurrence is sent to no webhook any more, and stays in the list. After a day of quiet, or once its run has ended and goes on, the alarm is another occurrence, as is each failure of a run. Answers once the store shows it, or is too far behind.
         */
        post: operations["AlarmsController_acknowledge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/sampling-blocks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists when the limiter of samples and inserts made a side of the run wait, newest first */
        get: operations["SamplingController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/validations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the figures of each validated or tested policy of a run, newest version first */
        get: operations["ValidationsController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/validations/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the tasks of validation as the first and the newest validated policy played them: those that only the newest solved first */
        get: operations["ValidationsController_listTasks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/reward-versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the reward versions that a run was scored with, the newest name first */
        get: operations["RewardsController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/reward-versions/{version}/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compares a reward version with the success of the episodes
         * @description Says which values of the reward failures get more of than successes, which rose while the success fell (reward hacking), and which episodes to read. Of training episodes, unless `split` says otherwise.
         */
        get: operations["RewardsController_audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/reward-versions/{version}/differences/{otherVersion}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compares two reward versions over the episodes that both have scored
         * @description In the answer A is the first version of the address, and B the second.
         */
        get: operations["RewardsController_compare"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/datasets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists data sets, newest first */
        get: operations["DatasetsController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/datasets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one data set with its query, splits and runs */
        get: operations["DatasetsController_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/datasets/{name}/episodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the episodes that rows of a data set are made of, by run and episode */
        get: operations["DatasetsController_listEpisodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists notebooks of SQL and text, last changed first */
        get: operations["NotebooksController_list"];
        put?: never;
        /**
         * Makes a notebook
         * @description Answers once the store shows it.
         */
        post: operations["NotebooksController_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notebooks/{notebookId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns one notebook with its cells */
        get: operations["NotebooksController_get"];
        /**
         * Saves the whole content of a notebook
         * @description Answers once the store shows it. Where the notebook has a newer revision than the one that is named, the answer is 409, whose `errors` have both. Earlier revisions stay in the log.
         */
        put: operations["NotebooksController_save"];
        post?: never;
        /**
         * Deletes a notebook
         * @description Its revisions stay in the log, and are shown as of an earlier moment.
         */
        delete: operations["NotebooksController_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists plays (evaluations), newest first */
        get: operations["PlaysController_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/plays/{playId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Returns the figures of a play, and its policies compared task by task */
        get: operations["PlaysController_get"];
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
    "/api/sql/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tells what a SELECT will read, and how it is answered
         * @description The query is checked as if it ran. It does not run, except for subqueries that the plan depends on, which have the limits of one query.
         */
        post: operations["SqlController_explain"];
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
    "/api/runs/{runId}/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ends a recorded run and closes its complete groups
         * @description Records are still taken. Called again after late episodes, it closes the groups that they complete.
         */
        post: operations["IngestController_end"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{runId}/records": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Appends records to a run, all of them or none
         * @description Answers once the log has them. Sending the same records again is safe: each counts once.
         */
        post: operations["IngestController_append"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/traces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Takes spans over OTLP/HTTP, as exporters of OpenTelemetry send them
         * @description Spans of the GenAI conventions become steps; each trace becomes an episode once it is complete. Answers once the spans are on disk.
         */
        post: operations["TracesController_export"];
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
        SessionStatus: {
            /** @description Whether requests need an API key */
            needsKey: boolean;
            /** @description Contained in the key of this request: `retrace_<id>_…` */
            keyId: string | null;
            keyName: string | null;
            scopes: ("ingest" | "read" | "sql" | "admin")[];
            /**
             * Format: date-time
             * @description null for a key that never expires
             */
            expiresAt: string | null;
        };
        SessionRequest: {
            /** @description API key */
            key: string;
        };
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
        UpdateProgress: {
            /** @description Newest update whose metrics are stored; 0 before the first */
            updateNumber: number;
            /** @description Updates that the recipe asks for, those of imitation included */
            numUpdates: number;
            /** @description Seconds until the last update if those that are left take as long as the median of the last twenty; null where fewer than two were made, and in a run that is not `running` */
            secondsLeft: number | null;
        };
        RecordedFigures: {
            /** @description Episodes that have ended */
            numEpisodes: number;
            /** @description Success rate of those that say whether they succeeded; null where none does */
            success: number | null;
            /** @description Mean return of those that have one; null where none has */
            meanReturn: number | null;
            /** @description Steps of the episodes that have ended */
            numSteps: number;
            /** @description Cost in US dollars of all steps that say, those of episodes in progress too; null where none does */
            costUsd: number | null;
        };
        RunListItem: {
            /** Format: uuid */
            runId: string;
            name: string;
            /**
             * @description `trained`: its policy is trained here; `recorded`: agents outside write its episodes
             * @enum {string}
             */
            kind: "trained" | "recorded";
            tags: string[];
            /** @description Marked as one of the important ones */
            starred: boolean;
            /** @description Lists leave it out unless they are asked for it */
            archived: boolean;
            /** @description Empty where unknown */
            environment: string;
            seed: number;
            /** @description Empty in recorded runs */
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
            /** @description null where nothing is trained */
            progress: components["schemas"]["UpdateProgress"] | null;
            /** @description null where the run is trained here; of a run with very many episodes some seconds old */
            recorded: components["schemas"]["RecordedFigures"] | null;
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
            /**
             * @description `trained`: its policy is trained here; `recorded`: agents outside write its episodes
             * @enum {string}
             */
            kind: "trained" | "recorded";
            tags: string[];
            /** @description Marked as one of the important ones */
            starred: boolean;
            /** @description Lists leave it out unless they are asked for it */
            archived: boolean;
            /** @description Empty where unknown */
            environment: string;
            seed: number;
            /** @description Empty in recorded runs */
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
            /** @description null where nothing is trained */
            progress: components["schemas"]["UpdateProgress"] | null;
            /** @description The recipe that was saved with the run; null in recorded runs */
            recipe: unknown;
            baselines: components["schemas"]["RunBaseline"][];
            codeVersion: string;
            /** @description What its caller gave with the run; null = nothing */
            metadata: unknown;
            /** @description What people wrote about it; empty for nothing */
            notes: string;
        };
        DifferingRecipeField: {
            /** @description Dotted path, as `--set` takes it */
            field: string;
            /** @description Value in the first run; null where its recipe leaves the field out */
            first: unknown;
            /** @description Value in the second run */
            second: unknown;
        };
        RecipeDifferences: {
            fields: components["schemas"]["DifferingRecipeField"][];
        };
        RunTotals: {
            numEpisodes: number;
            /** @description Episodes that have not ended */
            numOngoing: number;
            numSuccesses: number;
            /** @description Episodes of which it is known that they failed */
            numFailures: number;
            /** @description Mean return of the episodes that have one */
            meanReturn: number | null;
            /** @description Steps of the episodes that have ended */
            numSteps: number;
            /** @description Tokens of prompts, as providers counted them; null where no step says */
            inputTokens: number | null;
            /** @description Tokens of answers, as providers counted them; null where no step says */
            outputTokens: number | null;
            /** @description Cost in US dollars of the steps that say; null where none does */
            costUsd: number | null;
        };
        NamedChoice: {
            name: string;
            description: string;
        };
        StartOptions: {
            recipes: components["schemas"]["NamedChoice"][];
            algorithms: components["schemas"]["NamedChoice"][];
        };
        TrainRunRequest: {
            /**
             * @description Name of a built-in recipe, as `GET /api/recipes` lists them, or `run:<run>` for the recipe of a trained run, which is refused where it names code, programs, servers or files of tasks of its own; with `initFrom` of the same run that is a fork of it, without its imitation
             * @example frozen-lake-ppo
             */
            recipe: string;
            /**
             * @description Algorithm that trains it instead of its own
             * @example grpo
             */
            algorithm?: string;
            /**
             * @description Number of updates, instead of the recipe’s
             * @example 100
             */
            numUpdates?: number;
            /**
             * @description Seed, instead of the recipe’s
             * @example 7
             */
            seed?: number;
            /**
             * @description Policy of another run to start from: `run:<run>`, `run:<run>@<version>` or `run:<run>@best`
             * @example run:latest@best
             */
            initFrom?: string;
            /**
             * @description Other values of fields of the recipe, by dotted path. Fields that can name code, files, programs, servers or data are refused: only the command line sets them
             * @example {
             *       "optimizer.learningRate": 0.0003,
             *       "collection.groupSize": 8
             *     }
             */
            overrides?: {
                [key: string]: number | string | boolean | null;
            };
        };
        QueuedRun: {
            /** Format: uuid */
            queueId: string;
            /** @description Name of its recipe */
            name: string;
            /** @description null until the run has begun */
            runId: string | null;
            /** @description What was asked for; null for a run that is resumed, and for the one that the server was started with */
            start: components["schemas"]["TrainRunRequest"] | null;
            /** @enum {string} */
            status: "queued" | "running" | "stopping" | "finished" | "stopped" | "failed";
            /** @description Why it failed; else empty */
            detail: string;
            /** Format: date-time */
            queuedAt: string;
        };
        TrainingQueue: {
            /** @description Whether this server can start and stop runs; otherwise it is a process of its own, without a supervisor */
            isAvailable: boolean;
            /** @description The run that this server trains */
            running: components["schemas"]["QueuedRun"] | null;
            /** @description Those that wait, in their order */
            queued: components["schemas"]["QueuedRun"][];
            /** @description Those that ended lately, newest first */
            ended: components["schemas"]["QueuedRun"][];
        };
        TrainingChange: {
            /**
             * @example stop
             * @enum {string}
             */
            action: "stop" | "resume";
        };
        AgentProxy: {
            /** @description Address for agents, without `/v1` */
            url: string;
            /** @description Name of the run that their calls are recorded in */
            runName: string;
            /** @description Whether the policies of this server answer; false where another model server does */
            policiesAnswer: boolean;
            /** @description Whether calls need an API key with the scope `ingest` */
            needsKey: boolean;
        };
        AgentAccess: {
            /** @description null where this server runs no proxy for agents */
            proxy: components["schemas"]["AgentProxy"] | null;
        };
        AskPolicyRequest: {
            /**
             * @description Text that the policy answers, such as an observation of its environment
             * @example goal_a1 hole_b1 you_d4
             */
            text: string;
            /**
             * @description The newest version, or the oldest whose weights are kept
             * @default newest
             * @enum {string}
             */
            policy?: "newest" | "first";
            /**
             * @description Most tokens of the answer
             * @default 64
             */
            maxTokens?: number;
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
        PolicyAnswer: {
            /** @description What the policy answered */
            text: string;
            /** @description Version that sampled the first token */
            policyVersion: number;
            /** @description Tokens of the answer, all of them sampled */
            tokens: components["schemas"]["StepTokens"];
            /** @description Run in which the question is recorded */
            recordedRunId: string;
            /** @description Episode that the question is */
            episodeId: string;
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
            /** @description Id that its caller gave it; empty for none */
            externalId: string;
            /** @description As the newest annotation left them */
            tags: string[];
            groupId: string;
            /** @description Position in its group, from 0 */
            groupMember: number;
            /** @description Empty where unknown */
            environment: string;
            /** @enum {string} */
            split: "train" | "validation" | "test";
            agent: string;
            /** @description null = unknown */
            environmentSeed: number | null;
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
        ForkOrigin: {
            /** Format: uuid */
            runId: string;
            /** Format: uuid */
            episodeId: string;
            /** @description Step that it begins at */
            step: number;
        };
        EpisodeFork: {
            /** Format: uuid */
            runId: string;
            /** Format: uuid */
            episodeId: string;
            /** @description Step that it begins at */
            step: number;
            /** @description Its first action; null until it has one */
            action: string | null;
            /** @description Policy or scripted agent that plays on */
            policy: string;
            /** @description Sum of its rewards, which begin at the step; null when unknown */
            return: number | null;
            /** @description null = unknown */
            success: boolean | null;
        };
        StepValue: {
            /** @description Step of this episode that was forked */
            step: number;
            /** @description Policy or scripted agent that played on */
            policy: string;
            /** @description Whether it took the likeliest tokens */
            greedy: boolean;
            /** @description Action whose value it is; null = the policy chose, so it is the value of the step */
            action: string | null;
            /** @description Forks that it is estimated from */
            numForks: number;
            /** @description Mean of the returns from the step on, without discount */
            meanReturn: number;
            /** @description Lower end of its 95 % interval (Student); null with one fork */
            returnLow: number | null;
            /** @description Upper end */
            returnHigh: number | null;
            /** @description Share of successes; null when none is known */
            successRate: number | null;
            /** @description Lower end of its 95 % interval (Wilson) */
            successLow: number | null;
            /** @description Upper end */
            successHigh: number | null;
            /** @description What this episode got from the step on, to compare with; null when no reward is known */
            returnFromStep: number | null;
        };
        EpisodeScore: {
            /** @description Step that it scores; null = the whole episode */
            step: number | null;
            name: string;
            value: number;
            /** @description Who gave it; people have names that start with "human:" */
            source: string;
            /** @description Why, in words; may be empty */
            rationale: string;
            /** Format: date-time */
            assignedAt: string;
        };
        EpisodeUse: {
            /** @description First step that was read */
            firstStep: number;
            /** @description Steps that were read */
            numSteps: number;
            /** @description How often each epoch of optimizer steps trained it; 0: it was left out */
            times: number;
            /** @description Action tokens that the loss counted: trained, and not rejected */
            numTokens: number;
            /** @description Mean importance weight of those tokens; null without one */
            weight: number | null;
            /** @description Over those tokens; null without advantages */
            advantageMean: number | null;
            /** @description Over those tokens; null without advantages */
            advantageDeviation: number | null;
            /** @description Over those tokens; null without advantages */
            advantageMin: number | null;
            /** @description Over those tokens; null without advantages */
            advantageMax: number | null;
            /** @description Run that was trained */
            runId: string;
            updateNumber: number;
            /** @description Version that the update started from */
            policyVersionIn: number;
        };
        StepReward: {
            name: string;
            /** @description null = missing, which is not zero */
            value: number | null;
        };
        StepUsage: {
            /** @description null = unknown */
            inputTokens: number | null;
            /** @description Input tokens from the provider's cache */
            cachedInputTokens: number | null;
            outputTokens: number | null;
            /** @description Output tokens that were reasoning */
            reasoningTokens: number | null;
            /** @description US dollars */
            costUsd: number | null;
        };
        StepDetail: {
            /** @description From 0 */
            step: number;
            observation: string;
            /** @description Text that the agent answered */
            action: string;
            /** @description Action that the environment read from the text */
            parsedAction: string | null;
            /** @description Whether the environment understood the action; null = unknown */
            actionValid: boolean | null;
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
            /** @description null = unknown */
            generationMs: number | null;
            /** @description null = unknown */
            environmentMs: number | null;
            /** @description Chat messages that the step added, as `{ input, output }` in the form of OpenAI: those since the previous output, and the answer; null = no chat */
            messages: unknown;
            /** @description null = unknown */
            usage: components["schemas"]["StepUsage"] | null;
            /** @description Why no policy gradient may train on the step; empty where one may */
            untrainable: string;
            /** Format: date-time */
            occurredAt: string;
            tokens: components["schemas"]["StepTokens"];
        };
        EpisodeDetail: {
            /** Format: uuid */
            episodeId: string;
            /** @description Id that its caller gave it; empty for none */
            externalId: string;
            /** @description As the newest annotation left them */
            tags: string[];
            groupId: string;
            /** @description Position in its group, from 0 */
            groupMember: number;
            /** @description Empty where unknown */
            environment: string;
            /** @enum {string} */
            split: "train" | "validation" | "test";
            agent: string;
            /** @description null = unknown */
            environmentSeed: number | null;
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
            /** @description What its caller knows about it, as the newest annotation left it; null = nothing */
            metadata: unknown;
            /**
             * Format: uuid
             * @description Episode that called this one
             */
            parentEpisodeId: string | null;
            /** @description Step that it was forked from: the steps before that one come first in the conversation; null = no fork */
            forkedFrom: components["schemas"]["ForkOrigin"] | null;
            /** @description Forks of its steps, by step, at most 1,000 */
            forks: components["schemas"]["EpisodeFork"][];
            /** @description Values of its steps and their actions, estimated from forks */
            stepValues: components["schemas"]["StepValue"][];
            /** @description Observation after the last action; null until the episode ends */
            finalObservation: string | null;
            /** @description Why it was cut or abandoned, in words; empty otherwise */
            endDetail: string;
            /** @description Steps that are stored without a part that could not be stored; `untrainable` of each says which */
            numPoorerSteps: number;
            /** @description Rewards that were assigned to it or its steps: the newest of each name and source, without retracted ones */
            scores: components["schemas"]["EpisodeScore"][];
            /** @description What its steps cost, US dollars; null when no step knows */
            costUsd: number | null;
            /** @description Updates whose batches contain this episode */
            updateNumbers: number[];
            /** @description Committed updates of any run that read it, with the part that it had in them, at most 1,000; those from before this was recorded are missing */
            uses: components["schemas"]["EpisodeUse"][];
            steps: components["schemas"]["StepDetail"][];
            /** @description First step after this answer; null when there is none, or, of an episode that has not ended, none yet */
            nextStep: number | null;
        };
        EpisodeSteps: {
            steps: components["schemas"]["StepDetail"][];
            /** @description First step after this answer; null when there is none, or, of an episode that has not ended, none yet */
            nextStep: number | null;
        };
        EpisodeBranch: {
            /**
             * @description call: an agent that the episode called; fork: plays on from one of its steps
             * @enum {string}
             */
            kind: "call" | "fork";
            /** @description Step that a fork begins at; null of a call, whose step is not recorded */
            step: number | null;
            /**
             * Format: uuid
             * @description Run of the branch
             */
            runId: string;
            /** Format: uuid */
            episodeId: string;
            agent: string;
            /** Format: date-time */
            startedAt: string;
            /** @description The episode has ended */
            sealed: boolean;
            /** @description null = unknown */
            success: boolean | null;
            /** @description Sum of its rewards; null until it ends, or when every reward is missing */
            return: number | null;
            /** @description null until it ends */
            numSteps: number | null;
        };
        EpisodeBranches: {
            /** @description In the order in which they started, at most 1,000 */
            items: components["schemas"]["EpisodeBranch"][];
            /** @description There are more than the items */
            truncated: boolean;
        };
        DeletionResult: {
            /** @description Deleted episodes */
            numEpisodes: number;
            /** @description Rows deleted from the store */
            numRows: number;
            /** @description Records that the log released; null on Kafka, where the topic drops them by its retention */
            numReleased: number | null;
        };
        DeleteTaggedRequest: {
            /** @description Every episode of the run that has this tag now is deleted */
            tag: string;
            /**
             * @description Delete also episodes that updates were trained on, which then can not be replayed
             * @default false
             */
            force?: boolean;
        };
        Retention: {
            /** @description Age in days beyond which episodes are deleted; null = none is */
            maxAgeDays: number | null;
            /** @description Number of episodes that are kept; null = all */
            maxEpisodes: number | null;
        };
        RetentionRequest: {
            /** @description Episodes whose last step is older are deleted; null or left out = of any age are kept */
            maxAgeDays?: number | null;
            /** @description So many are kept, the newest; null or left out = any number */
            maxEpisodes?: number | null;
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
            /** @description null until the update is applied, '' where a trainer outside has not named them */
            weightsSha256: string | null;
            /** @description What made its gradients: `tensorflow`, `torch`, or the name of a trainer outside. null until the update is applied, '' where it was not recorded */
            engine: string | null;
        };
        UpdateInput: {
            /** @description First step that was read */
            firstStep: number;
            /** @description Steps that were read */
            numSteps: number;
            /** @description How often each epoch of optimizer steps trained it; 0: it was left out */
            times: number;
            /** @description Action tokens that the loss counted: trained, and not rejected */
            numTokens: number;
            /** @description Mean importance weight of those tokens; null without one */
            weight: number | null;
            /** @description Over those tokens; null without advantages */
            advantageMean: number | null;
            /** @description Over those tokens; null without advantages */
            advantageDeviation: number | null;
            /** @description Over those tokens; null without advantages */
            advantageMin: number | null;
            /** @description Over those tokens; null without advantages */
            advantageMax: number | null;
            /** @description Place in the batch */
            place: number;
            /** @description Run of the episode */
            episodeRunId: string;
            episodeId: string;
            groupId: string;
            /** @description Its share of the sum over all episodes of times × tokens × weight × root mean square of the advantage: how much of the gradient may come from it; null without advantages */
            share: number | null;
            /** @description Sum of the environment rewards; null if unknown */
            return: number | null;
            /** @description null if unknown */
            success: boolean | null;
            /** @description Versions between the oldest policy that sampled it and the one that the update started from; null where no policy did */
            age: number | null;
            /** @description Mean of π/π_old over its tokens in all optimizer steps; null where the tokens were not recorded (`updateTokens`) */
            ratio: number | null;
        };
        TrainedTokenColumns: {
            /** @description Step that sampled the token */
            steps: number[];
            /** @description Place of the token in the lists of its step, from 0 */
            positions: number[];
            /** @description null in imitation */
            advantages: (number | null)[];
            /** @description π/π_proximal; null without a proximal policy */
            ratios: (number | null)[];
            /** @description Of the critic; null without one */
            values: (number | null)[];
            /** @description From the reference policy, nats; null without one */
            kls: (number | null)[];
            /** @description Nats */
            entropies: (number | null)[];
            /** @description Nats; null without a teacher */
            teacherLogprobs: (number | null)[];
            /** @description Share of its optimizer steps in which the loss clipped the token */
            clippedShares: number[];
        };
        SamplingPolicy: {
            /** @description Run that has the policy */
            runId: string;
            /** @description Oldest version that sampled the episodes; null where no policy did */
            policyVersion: number | null;
            /** @description Update that made the policy, 0 for the first of its run; null where no policy is there */
            madeBy: number | null;
            numEpisodes: number;
        };
        FedUpdate: {
            /** @description Run that was trained */
            runId: string;
            updateNumber: number;
            /** @description Episodes of that policy in its batch */
            numEpisodes: number;
        };
        UpdateLineage: {
            /** @description Most episodes first, at most 50 */
            sampledBy: components["schemas"]["SamplingPolicy"][];
            /** @description Ended episodes of the run that the policy sampled which the update made, and no older one */
            numSampled: number;
            /** @description In order, at most 50 */
            fed: components["schemas"]["FedUpdate"][];
        };
        Distribution: {
            /**
             * @description Figure of an episode, as the list of inputs has it; episodes without it do not count
             * @enum {string}
             */
            name: "return" | "advantage" | "weight" | "ratio" | "age" | "tokens";
            /** @description Episodes that have the figure */
            numEpisodes: number;
            /** @description Least value */
            low: number;
            /** @description Greatest value */
            high: number;
            mean: number;
            /** @description Episodes in each of as many equal parts of the range from `low` to `high`; all are in the first where it is empty */
            counts: number[];
        };
        DistributionList: {
            distributions: components["schemas"]["Distribution"][];
        };
        BatchRequest: {
            /**
             * @description Other values of fields of the recipe in `reward`, `advantage`, `loss`, `preference` or `optimizer`
             * @example [
             *       "loss.clipHigh=0.28"
             *     ]
             */
            set?: string[];
            /** @description Name of a reward version of the run, or the first characters of its hash; its scores are the rewards */
            rewardVersion?: string;
            /** @description A committed update, whose episodes the batch has; without it groups are drawn */
            updateNumber?: number;
            /**
             * @description Condition in SQL on the view `episodes`: which training episodes may be drawn; by default all
             * @example num_steps > 3
             */
            where?: string;
            /**
             * @description How many groups are drawn, each with all its episodes that `where` takes
             * @default 64
             */
            groups?: number;
            /**
             * @default random
             * @enum {string}
             */
            order?: "random" | "newest";
            /**
             * @description Decides which groups are drawn at random; the same seed draws the same of the same run
             * @default 0
             */
            seed?: number;
            /**
             * @description That the tokens of a recorded run were sampled at; a trained run has it in its recipe
             * @default 1
             */
            temperature?: number;
        };
        UpdateRange: {
            from: number;
            to: number;
        };
        QuestionFailure: {
            /** @description For programs */
            code: string;
            message: string;
        };
        WhatIfItem: {
            /** @enum {string} */
            status: "queued" | "running" | "finished" | "failed" | "cancelled";
            /** Format: date-time */
            askedAt: string;
            /** Format: date-time */
            startedAt: string | null;
            /** Format: date-time */
            endedAt: string | null;
            /** @description Updates that are made again first, as the state that the first one starts from is not kept; null without */
            recomputing: components["schemas"]["UpdateRange"] | null;
            /** @description Why it failed; null unless it did */
            failure: components["schemas"]["QuestionFailure"] | null;
            /** Format: uuid */
            whatIfId: string;
            /** Format: uuid */
            runId: string;
            updateNumber: number;
            toUpdate: number;
            set: string[];
            rewardVersion: string | null;
            /** @description Updates that are compared so far */
            numCompared: number;
        };
        WhatIfRequest: {
            /**
             * @description Other values of fields of the recipe in `reward`, `advantage`, `loss`, `preference` or `optimizer`
             * @example [
             *       "loss.clipHigh=0.28"
             *     ]
             */
            set?: string[];
            /** @description Name of a reward version of the run, or the first characters of its hash; its scores are the rewards */
            rewardVersion?: string;
            updateNumber: number;
            /** @description The updates from `updateNumber` up to this one, at most 50; by default only that one */
            toUpdate?: number;
            /**
             * @description Whether every action token is listed, for a single update
             * @default false
             */
            withTokens?: boolean;
        };
        WhatIfLayer: {
            /** @description Cosine of both gradients; null where one of them is 0 */
            cosine: number | null;
            /** @description L2 norm */
            recordedNorm: number;
            /** @description L2 norm */
            changedNorm: number;
            /** @description A layer, or a parameter that is in none */
            layer: string;
        };
        WhatIfGradient: {
            /** @description Cosine of both gradients; null where one of them is 0 */
            cosine: number | null;
            /** @description L2 norm */
            recordedNorm: number;
            /** @description L2 norm */
            changedNorm: number;
            layers: components["schemas"]["WhatIfLayer"][];
        };
        WhatIfMetric: {
            name: string;
            recorded: number | null;
            changed: number | null;
        };
        WhatIfEpisode: {
            episodeId: string;
            groupId: string;
            recordedReward: number | null;
            changedReward: number | null;
            /** @description Mean over the tokens that the loss counts */
            recordedAdvantage: number | null;
            /** @description Mean over the tokens that the loss counts */
            changedAdvantage: number | null;
            /** @description Tokens that the loss counts */
            recordedTokens: number;
            /** @description Tokens that the loss counts */
            changedTokens: number;
        };
        WhatIfTokenTotals: {
            /** @description Action tokens that either update trains */
            numTokens: number;
            /** @description Counted by one update only */
            numCountedOnce: number;
            /** @description Share of the tokens whose advantages have opposite signs */
            flippedFraction: number;
            meanAdvantageDifference: number;
            maxAdvantageDifference: number;
            /** @description Of the importance weights */
            meanWeightDifference: number;
            /** @description Of the importance weights */
            maxWeightDifference: number;
        };
        WhatIfTokens: {
            episodeId: string;
            /** @description The step that sampled each action token of the episode */
            steps: number[];
            recordedAdvantages: number[];
            changedAdvantages: number[];
            recordedWeights: number[];
            changedWeights: number[];
            /** @description Share of its optimizer steps in which the loss clipped the token */
            recordedClips: number[];
            changedClips: number[];
        };
        WhatIfUpdateDto: {
            updateNumber: number;
            numEpisodes: number;
            /** @description Of the loss of the whole batch, at the start of the update */
            gradient: components["schemas"]["WhatIfGradient"];
            /** @description After all optimizer steps of either update */
            metrics: components["schemas"]["WhatIfMetric"][];
            episodes: components["schemas"]["WhatIfEpisode"][];
            tokens: components["schemas"]["WhatIfTokenTotals"];
            /** @description null unless `withTokens` */
            everyToken: components["schemas"]["WhatIfTokens"][] | null;
            /** @description Whether the update that was made again gave the recorded weights, bit for bit */
            sameWeights: boolean;
        };
        WhatIf: {
            /** @enum {string} */
            status: "queued" | "running" | "finished" | "failed" | "cancelled";
            /** Format: date-time */
            askedAt: string;
            /** Format: date-time */
            startedAt: string | null;
            /** Format: date-time */
            endedAt: string | null;
            /** @description Updates that are made again first, as the state that the first one starts from is not kept; null without */
            recomputing: components["schemas"]["UpdateRange"] | null;
            /** @description Why it failed; null unless it did */
            failure: components["schemas"]["QuestionFailure"] | null;
            /** Format: uuid */
            whatIfId: string;
            /** Format: uuid */
            runId: string;
            updateNumber: number;
            toUpdate: number;
            set: string[];
            rewardVersion: string | null;
            /** @description Updates that are compared so far */
            numCompared: number;
            /** @description Those that are compared so far */
            updates: components["schemas"]["WhatIfUpdateDto"][];
        };
        QuestionChange: {
            /** @enum {string} */
            status: "cancelled";
        };
        ReplayRequest: {
            updateNumber: number;
        };
        UsedEngineDto: {
            /** @description As a recipe names it: `tensorflow`, `torch` */
            kind: string;
            /** @description Of its library, with what it runs on */
            version: string;
            /** @description `cpu`, or the name of a GPU */
            device: string;
            numProcesses: number;
            /** @description Type in which it multiplies matrices */
            precision: string;
        };
        ReplayEngines: {
            recorded: components["schemas"]["UsedEngineDto"];
            replayed: components["schemas"]["UsedEngineDto"];
        };
        ReplayedMetric: {
            name: string;
            recorded: number | null;
            replayed: number | null;
        };
        ReplayedOptimizerStep: {
            /** @description From 1 */
            step: number;
            recordedLoss: number | null;
            replayedLoss: number | null;
            /** @description Before the gradient is scaled down */
            recordedGradientNorm: number | null;
            /** @description Before the gradient is scaled down */
            replayedGradientNorm: number | null;
        };
        ReplayResultDto: {
            updateNumber: number;
            numEpisodes: number;
            /** @description Whether the loss is the recorded one, but for rounding (1e-5 of it) */
            isReproduced: boolean;
            /** @description |replayed − recorded| / max(1, |recorded|) of the loss; null where one of them trained nothing */
            lossDifference: number | null;
            /** @description Whether the weights are the recorded ones, bit for bit */
            sameWeights: boolean;
            /** @description Whether what was recorded of each trained token is the same again, bit for bit; null where nothing was */
            sameTokens: boolean | null;
            /** @description null for an update from before commits named their engine */
            engine: components["schemas"]["ReplayEngines"] | null;
            metrics: components["schemas"]["ReplayedMetric"][];
            /** @description null for an update from before they were recorded */
            steps: components["schemas"]["ReplayedOptimizerStep"][] | null;
            /** @description The first of them whose loss or gradient norm differs at all; null where none does */
            firstDifferingStep: number | null;
            /** @description The update whose checkpoint it began with, 0 for the start of the run; those after it were made again */
            beganAfter: number;
            /** @description First of those whose weights differ from the recorded ones; null where all are equal */
            firstInexact: number | null;
        };
        Replay: {
            /** @enum {string} */
            status: "queued" | "running" | "finished" | "failed" | "cancelled";
            /** Format: date-time */
            askedAt: string;
            /** Format: date-time */
            startedAt: string | null;
            /** Format: date-time */
            endedAt: string | null;
            /** @description Updates that are made again first, as the state that the first one starts from is not kept; null without */
            recomputing: components["schemas"]["UpdateRange"] | null;
            /** @description Why it failed; null unless it did */
            failure: components["schemas"]["QuestionFailure"] | null;
            /** Format: uuid */
            replayId: string;
            /** Format: uuid */
            runId: string;
            updateNumber: number;
            /** @description null until it has finished */
            result: components["schemas"]["ReplayResultDto"] | null;
        };
        Policy: {
            policyVersion: number;
            /** @description Version it was trained from; null for the first version */
            parentVersion: number | null;
            /** @description Update that made this version; 0: none of this run */
            updateNumber: number;
            /** @description '' where a trainer outside has not named them */
            weightsSha256: string;
            weightsSizeBytes: number;
            /** @description Hash of architecture and tokenizer; of a trainer outside the name that it gives the model */
            modelHash: string;
            /** @description Where a trainer outside keeps the weights, as it says; '' where they are in the checkpoint store, or nobody knows */
            location: string;
            /** Format: date-time */
            publishedAt: string;
        };
        AlarmAcknowledgementBody: {
            /** @description What is known of the alarm, or done about it; may be empty */
            note: string;
            /** @description Who acknowledged it */
            source: string;
            /** Format: date-time */
            acknowledgedAt: string;
        };
        AlarmSilenceItem: {
            /** @description Empty: of all runs, and of processes that belong to no run */
            runId: string;
            /** @description Empty in all runs */
            runName: string;
            /** @description Name of the monitor, or `runFailed`; empty for all alarms without a rule */
            rule: string;
            /** @description Why */
            note: string;
            /** @description Who silenced it */
            source: string;
            /** Format: date-time */
            silencedAt: string;
            /**
             * Format: date-time
             * @description It holds before this moment
             */
            until: string;
        };
        AlarmItem: {
            /** @description Empty for a process of no run */
            runId: string;
            /** @description Empty for a process of no run */
            runName: string;
            /**
             * @description Process that raised it; `system` is the supervisor
             * @enum {string}
             */
            source: "trainer" | "collector" | "validator" | "sink" | "api" | "store" | "system";
            /** @description Name of the monitor whose rule is broken, or `runFailed`; empty for other alarms, which are told apart by their message without its numbers */
            rule: string;
            /** @description As it was raised last, like step, advice and episodes */
            message: string;
            /** @description Update (trainer) or round (collector) that it belongs to */
            step: number | null;
            /** @description A step to take next; empty where there is none */
            advice: string;
            /** @description Episodes to look at first */
            episodeIds: string[];
            /** @description How often one process has raised it, at most; a process that starts again counts from 1 */
            numTimes: number;
            /** Format: date-time */
            firstRaisedAt: string;
            /** Format: date-time */
            lastRaisedAt: string;
            /** @description Of its newest occurrence; null where nobody has acknowledged that */
            acknowledgement: components["schemas"]["AlarmAcknowledgementBody"] | null;
            /** @description Of the silences that hold for it, the one that ends last; null for none */
            silence: components["schemas"]["AlarmSilenceItem"] | null;
        };
        RunWarning: {
            /**
             * @description Process that warns; `system` is the supervisor
             * @enum {string}
             */
            source: "trainer" | "collector" | "validator" | "sink" | "api" | "store" | "system";
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
            /** @description Name of the monitor whose rule is broken; empty for other warnings */
            rule: string;
            /** @description A step to take next; empty where there is none */
            advice: string;
            /** @description Episodes to look at first */
            episodeIds: string[];
            /** Format: date-time */
            raisedAt: string;
        };
        AcknowledgedAlarm: {
            /** @description Empty for a process of no run */
            runId: string;
        };
        SilencedAlarms: {
            /**
             * Format: date-time
             * @description When the silence ends; now, where it was ended
             */
            until: string;
        };
        SamplingBlock: {
            /**
             * @description Side that the limiter of samples and inserts made wait
             * @enum {string}
             */
            side: "trainer" | "collector";
            /** @description The figures, and the bound that would have been left */
            reason: string;
            /** @description Groups collected for training by then */
            numInserted: number;
            /** @description Samples of groups by then, with those that discarded groups would have given */
            numSampled: number;
            /** Format: date-time */
            blockedAt: string;
        };
        ValidationPass: {
            k: number;
            /** @description Chance that one of k attempts succeeds (Chen et al. 2021), mean over tasks */
            pass: number;
        };
        ValidationFigures: {
            numTasks: number;
            /** @description Episodes of known outcome */
            numEpisodes: number;
            numSuccesses: number;
            /** @description Ended episodes whose outcome is unknown */
            numUnknown: number;
            /** @description 95 %, Wilson, of the effective episodes */
            successLow: number;
            successHigh: number;
            meanReturn: number | null;
            policyVersion: number;
            /** @description Update that made the version */
            updateNumber: number;
            /** @enum {string} */
            split: "train" | "validation" | "test";
            /**
             * @description One episode of each task with the likeliest tokens, or several sampled ones
             * @enum {string}
             */
            decoding: "greedy" | "sampled";
            /** @description Family of the tasks; null = all families */
            family: string | null;
            /** @description Episodes in which environment, agent or model failed; part of no other figure */
            numFailed: number;
            success: number | null;
            passAtK: components["schemas"]["ValidationPass"][];
            /** @description Seconds that the episodes of the whole validation took */
            seconds: number;
            /** Format: date-time */
            validatedAt: string;
        };
        ValidationAttempt: {
            /** Format: uuid */
            episodeId: string;
            policyVersion: number;
            /** @description null when the environment does not tell */
            success: boolean | null;
            /** @description Sum of the rewards; null when every reward is missing */
            return: number | null;
            numSteps: number;
        };
        ValidationTask: {
            /** @description Hash of environment, seed and task, equal in all validations */
            taskId: string;
            /** @description null = unknown */
            environmentSeed: number | null;
            /** @description Task as the environment was given it */
            task: unknown;
            /** @description By the first validated policy */
            first: components["schemas"]["ValidationAttempt"];
            /** @description By the newest validated policy; null while one policy is validated only */
            newest: components["schemas"]["ValidationAttempt"] | null;
        };
        RewardVersionItem: {
            /** @description SHA-256 of everything that the reward depends on */
            version: string;
            /** @description The name that was given to it; a version with several names is there with each */
            name: string;
            /**
             * Format: date-time
             * @description When it got this name
             */
            namedAt: string;
            /** @description Episodes that it has scored so far; 0 where none was, as while scoring begins */
            numScored: number;
        };
        RewardVersionList: {
            versions: components["schemas"]["RewardVersionItem"][];
        };
        AuditedStretch: {
            numEpisodes: number;
            /** @description Share that reached their goal; null where no episode of the stretch says whether it did */
            success: number | null;
        };
        AuditedRewardValue: {
            /** @enum {string} */
            kind: "total" | "component";
            /** @description `total`, or the name of a component, whose values count times its weight */
            name: string;
            /** @description Episodes that have a total and the value */
            numEpisodes: number;
            mean: number;
            /** @description Null where no success has the value */
            meanOfSuccesses: number | null;
            /** @description Null where no failure has the value */
            meanOfFailures: number | null;
            /** @description Whether failures got more of it than successes; false where either mean is missing */
            paysFailures: boolean;
            /** @description Mean in each stretch; null where no episode of it has the value */
            byStretch: (number | null)[];
        };
        HackedRewardValue: {
            /** @enum {string} */
            kind: "total" | "component";
            name: string;
            /** @description First of ten stretches in a row, counted from 0 */
            from: number;
            /** @description Last of them */
            to: number;
            /** @description Spearman’s ρ of the value with time */
            trend: number;
            /** @description Spearman’s ρ of the success with time */
            successTrend: number;
            /** @description Mean of the first three of these stretches */
            valueFrom: number;
            /** @description Mean of the last three of them */
            valueTo: number;
            /** @description Success rate in the first three of these stretches */
            successFrom: number;
            /** @description Success rate in the last three of them */
            successTo: number;
        };
        EpisodeToRead: {
            episodeId: string;
            total: number;
            /** @description By name, before their weights; null where a component has no value */
            components: {
                [key: string]: number | null;
            };
        };
        RewardAuditReport: {
            runId: string;
            version: string;
            name: string;
            /** @description Ended episodes of the split that the version has scored */
            numEpisodes: number;
            /** @description Episodes with a total; those without are part of no other figure */
            numWithTotal: number;
            /** @description Episodes with a total that say whether they reached their goal */
            numWithSuccess: number;
            /** @description By time, of equally many episodes */
            stretches: components["schemas"]["AuditedStretch"][];
            /** @description The total first, then the components by name */
            values: components["schemas"]["AuditedRewardValue"][];
            /** @description Windows of ten stretches in a row in which the success is known; 0: nothing can be said about reward hacking */
            numWindows: number;
            /** @description Values that rose while the success fell (ρ with time at least 0.6, and at most −0.6), each in its worst window; the steepest fall of the success first */
            hacked: components["schemas"]["HackedRewardValue"][];
            /** @description Share of the failures with at least the median total of the successes; null where either is missing */
            paidFailures: number | null;
            /** @description Failures with the highest totals */
            richestFailures: components["schemas"]["EpisodeToRead"][];
            /** @description Successes with the lowest totals */
            poorestSuccesses: components["schemas"]["EpisodeToRead"][];
        };
        RewardValueDifference: {
            /** @enum {string} */
            kind: "total" | "component";
            /** @description `total`, or the name of a component */
            name: string;
            /** @description Episodes that have a value under both versions */
            numCompared: number;
            /** @description Episodes that have a value under A only */
            numOnlyA: number;
            /** @description Episodes that have a value under B only */
            numOnlyB: number;
            /** @description Compared episodes whose value differs */
            numChanged: number;
            /** @description Mean under A of the compared episodes; null where there are none */
            meanA: number | null;
            /** @description Mean under B of the same episodes */
            meanB: number | null;
            /** @description Mean of |B − A| */
            meanAbsoluteChange: number | null;
            /** @description Largest |B − A|; 0 where nothing is compared */
            maxAbsoluteChange: number;
            /** @description Spearman’s ρ; null where either side is constant */
            spearman: number | null;
            /** @description Kendall’s τ-b; null in the same cases */
            kendall: number | null;
        };
        EpisodeRewardChange: {
            episodeId: string;
            groupId: string;
            totalA: number;
            totalB: number;
        };
        FlippedGroup: {
            groupId: string;
            numEpisodes: number;
            /** @description Members above the mean of the group under one version and below it under the other */
            numFlipped: number;
        };
        RewardDifferences: {
            runId: string;
            versionA: string;
            versionB: string;
            nameA: string;
            nameB: string;
            /** @description The total first, then the components by name */
            values: components["schemas"]["RewardValueDifference"][];
            /** @description The largest change of the total first */
            mostChanged: components["schemas"]["EpisodeRewardChange"][];
            /** @description Groups with members that both versions have scored */
            numGroups: number;
            /** @description Groups with members whose advantage changes its sign */
            numGroupsFlipped: number;
            /** @description Those with the most such members */
            mostFlipped: components["schemas"]["FlippedGroup"][];
        };
        DatasetListItem: {
            name: string;
            /** @description What a row is, such as `sft` */
            format: string;
            /** @enum {string} */
            fileFormat: "jsonl" | "parquet";
            /** @description SHA-256 over the rows: equal for equal rows, whatever the file format */
            contentHash: string;
            /** @description Episodes that some row is made of */
            numEpisodes: number;
            numRows: number;
            /** Format: date-time */
            createdAt: string;
        };
        DatasetSplit: {
            split: string;
            numRows: number;
            /** @description Path in the data set's directory */
            file: string;
            /** @description SHA-256 of the file */
            sha256: string;
        };
        DatasetRun: {
            /** Format: uuid */
            runId: string;
            /** @description Name of the run; empty where it was deleted */
            name: string;
            numEpisodes: number;
        };
        SplitContamination: {
            split: string;
            /** @description The largest split */
            comparedWith: string;
            /** @description Rows of the split */
            numRows: number;
            /** @description Rows whose task the other split has, too */
            numRowsWithSharedTask: number;
            /** @description Rows with a state of the environment that the other split has, too */
            numRowsWithSharedAnchor: number;
            /** @description Rows with a stretch of words that the other split has, too */
            numRowsWithSharedNGram: number;
        };
        DatasetContamination: {
            /** @description Words of a stretch */
            nGramWords: number;
            splits: components["schemas"]["SplitContamination"][];
        };
        DatasetDetail: {
            name: string;
            /** @description What a row is, such as `sft` */
            format: string;
            /** @enum {string} */
            fileFormat: "jsonl" | "parquet";
            /** @description SHA-256 over the rows: equal for equal rows, whatever the file format */
            contentHash: string;
            /** @description Episodes that some row is made of */
            numEpisodes: number;
            numRows: number;
            /** Format: date-time */
            createdAt: string;
            /** @description The query that chose the episodes or steps */
            sql: string;
            splits: components["schemas"]["DatasetSplit"][];
            runs: components["schemas"]["DatasetRun"][];
            contamination: components["schemas"]["DatasetContamination"];
            /** @description Score, seed, shares of the splits, duplicates, and what was left out by reason */
            settings: unknown;
            /** @description Directory with the files, on the machine that made them */
            location: string;
            codeVersion: string;
        };
        DatasetEpisode: {
            /** Format: uuid */
            runId: string;
            /** Format: uuid */
            episodeId: string;
        };
        NotebookListItem: {
            /** Format: uuid */
            notebookId: string;
            /** @description From 1; each change of the notebook has the next one */
            revision: number;
            title: string;
            numCells: number;
            /** @description Who or what wrote this revision */
            source: string;
            /**
             * Format: date-time
             * @description Of the first revision
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description Of this revision
             */
            savedAt: string;
        };
        NotebookPlotBody: {
            /** @description Column of the axis */
            x: string;
            /** @description Columns that are drawn */
            ys: string[];
            /** @description Rows with the same value of this column are one line */
            by: string | null;
        };
        NotebookCellBody: {
            /** @enum {string} */
            kind: "sql" | "markdown";
            /** @description The query, or the text */
            text: string;
            /**
             * @description How the page shows the result
             * @enum {string}
             */
            view: "table" | "chart";
            /** @description Columns of the chart; null: the page chooses by the result */
            plot: components["schemas"]["NotebookPlotBody"] | null;
        };
        NotebookDetail: {
            /** Format: uuid */
            notebookId: string;
            /** @description From 1; each change of the notebook has the next one */
            revision: number;
            title: string;
            numCells: number;
            /** @description Who or what wrote this revision */
            source: string;
            /**
             * Format: date-time
             * @description Of the first revision
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description Of this revision
             */
            savedAt: string;
            cells: components["schemas"]["NotebookCellBody"][];
        };
        SavedNotebook: {
            /** Format: uuid */
            notebookId: string;
            /** @description From 1; each change of the notebook has the next one */
            revision: number;
        };
        PlayListItem: {
            /** Format: uuid */
            playId: string;
            /** Format: date-time */
            startedAt: string;
            /** @description The policies, as they were named */
            policies: string[];
            environments: string[];
        };
        PriceOfPlay: {
            /** @description US dollars for a million tokens read */
            inputUsdPerMillion: number;
            /** @description US dollars for a million tokens written */
            outputUsdPerMillion: number;
        };
        RunOfPlay: {
            /** Format: uuid */
            runId: string;
            /** @description The policy, as it was named */
            policy: string;
            /** @description Which policy that was, such as `run:<id>@<version>` */
            description: string;
            environment: string;
            numPlanned: number;
            /** @description Episodes that have ended */
            numEnded: number;
            /** @description Whether the likeliest tokens were taken */
            greedy: boolean;
            price: components["schemas"]["PriceOfPlay"] | null;
        };
        PassOfPlay: {
            k: number;
            /** @description Chance that one of k attempts succeeds (Chen et al. 2021), mean over tasks */
            pass: number;
            /** @description Tasks with at least k attempts of known outcome */
            numTasks: number;
        };
        RowOfPlay: {
            numTasks: number;
            /** @description Episodes of known outcome */
            numEpisodes: number;
            numSuccesses: number;
            /** @description Ended episodes whose outcome is unknown */
            numUnknown: number;
            /** @description 95 %, Wilson, of the effective episodes */
            successLow: number;
            successHigh: number;
            meanReturn: number | null;
            policy: string;
            environment: string;
            split: string;
            /** @description Seed that drew the tasks; null = all seeds */
            seed: number | null;
            /** @description Family of the tasks; null = all families */
            family: string | null;
            /** @description Episodes in which environment, agent or server failed; part of no other figure but the cost */
            numFailed: number;
            successRate: number | null;
            /** @description Episodes that the interval counts: attempts at one task resemble each other */
            effectiveEpisodes: number;
            passAtK: components["schemas"]["PassOfPlay"][];
            meanSteps: number | null;
            /** @description Tokens that the model read in an episode; null = unknown */
            meanInputTokens: number | null;
            meanOutputTokens: number | null;
            costUsd: number | null;
        };
        ComparisonOfPlay: {
            environment: string;
            split: string;
            first: string;
            second: string;
            /** @description Tasks that both have played */
            numTasks: number;
            /** @description Success rate of the second minus that of the first, each task counted once */
            difference: number;
            /** @description 95 %, adjusted Wald interval of paired data (Bonett and Price 2012) */
            differenceLow: number | null;
            differenceHigh: number | null;
            /** @description Tasks that only the first solved; null with several attempts at a task */
            numOnlyFirst: number | null;
            numOnlySecond: number | null;
            /** @description McNemar, exact, two-sided */
            pValue: number | null;
        };
        PlayDetail: {
            /** Format: uuid */
            playId: string;
            /** Format: date-time */
            startedAt: string;
            /** @description Whether every planned episode has ended */
            isComplete: boolean;
            runs: components["schemas"]["RunOfPlay"][];
            rows: components["schemas"]["RowOfPlay"][];
            comparisons: components["schemas"]["ComparisonOfPlay"][];
        };
        SqlRequest: {
            /**
             * @description One SELECT over the tables of `/api/sql/schema`
             * @example SELECT count() FROM steps
             */
            query: string;
            /**
             * @description Row limit; `truncated` tells whether the result has more rows. At most 10000 for JSON. An Arrow stream does not tell: ask for one row more than you need
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
        ExplainRequest: {
            /**
             * @description One SELECT over the tables of `/api/sql/schema`
             * @example SELECT count() FROM steps
             */
            query: string;
        };
        SqlPlannedTable: {
            table: string;
            /** @description Rows that will be read; a table that is read twice counts twice */
            numRows: number;
            /** @description Rows of the table now; null where the engine doesn't count them */
            totalRows: number | null;
            /** @description Compressed bytes of these rows in all columns, by their share of the table; a query that names few columns reads less */
            maxBytes: number | null;
            /** @description Parts of the table that are read */
            numParts: number;
            /** @description Granules that are read, each some thousand rows */
            numGranules: number;
        };
        SqlPlanIndex: {
            /**
             * @description Kind of index
             * @example PrimaryKey
             */
            type: string;
            /** @description Its name, or the columns of the key that are used */
            name: string;
            /** @description What it was asked; `true` where it could leave nothing out */
            condition: string;
            /** @description Parts that it left to be read */
            numParts: number;
            /** @description Parts before it */
            totalParts: number;
            /** @description Granules that it left to be read */
            numGranules: number;
            /** @description Granules before it */
            totalGranules: number;
        };
        SqlPlanStep: {
            /** @description 0 for the step that gives the result; it takes what the steps one level below it give */
            depth: number;
            /**
             * @description The engine's name
             * @example Aggregating
             */
            name: string;
            /** @description Keys, conditions or the table, in the engine's words; empty for none */
            detail: string;
            /** @description Empty in steps that read no table */
            indexes: components["schemas"]["SqlPlanIndex"][];
        };
        SqlPlan: {
            /** @description Tables and views that the query names */
            names: string[];
            /** @description What is read of each table; empty where the engine answers from counts that it keeps */
            tables: components["schemas"]["SqlPlannedTable"][];
            /** @description From the result down to what is read */
            steps: components["schemas"]["SqlPlanStep"][];
        };
        SqlTable: {
            name: string;
            columns: components["schemas"]["SqlColumn"][];
        };
        SqlSchema: {
            tables: components["schemas"]["SqlTable"][];
        };
        StartedRun: {
            /** Format: uuid */
            runId: string;
        };
        AnnotatedRun: {
            /** Format: uuid */
            runId: string;
        };
        EndedRun: {
            /** @description Groups that were closed now */
            closedGroups: number;
        };
        AppendedRecords: {
            /** @description Records of the request, all of which are in the log */
            accepted: number;
            /** @description Those of them that were there before */
            duplicates: number;
        };
        OutsideUpdate: {
            /** @description Its number in the run */
            policyVersion: number;
            /**
             * Format: uuid
             * @description Names it in the log: the id of the request
             */
            planId: string;
            /** @description Its number in the run */
            updateNumber: number;
        };
        OutsidePolicy: {
            /** @description Its number in the run */
            policyVersion: number;
        };
        ViolationBody: {
            /** @description Place of the record in its batch, from 0 */
            index?: number;
            /**
             * @description Path of the field
             * @example limit
             */
            field: string;
            /** @description Value that was sent, shortened; left out when the field was missing */
            value?: string | number | boolean | null;
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
            code: "INVALID_REQUEST" | "MALFORMED_BODY" | "UNSUPPORTED_MEDIA_TYPE" | "BODY_TOO_LARGE" | "HOST_NOT_ALLOWED" | "ORIGIN_NOT_ALLOWED" | "KEY_REQUIRED" | "KEY_INVALID" | "SCOPE_MISSING" | "RATE_LIMITED" | "NOT_FOUND" | "ID_AMBIGUOUS" | "METHOD_NOT_ALLOWED" | "RUN_EXISTS" | "RUN_ENDED" | "RUN_NOT_RECORDED" | "EPISODE_UNKNOWN" | "EPISODE_ENDED" | "EPISODE_DELETED" | "EPISODE_CONFLICT" | "STEP_OUT_OF_ORDER" | "STEP_UNKNOWN" | "STEP_CONFLICT" | "END_CONFLICT" | "REWARD_CONFLICT" | "ANNOTATION_CONFLICT" | "POLICY_UNKNOWN" | "POLICY_UNAVAILABLE" | "UPDATE_CONFLICT" | "RUN_CLAIMED" | "NOTEBOOK_CONFLICT" | "TOO_MANY_RECORDS_IN_FLIGHT" | "TRACES_UNAVAILABLE" | "QUESTIONS_UNAVAILABLE" | "TOO_MANY_QUESTIONS" | "NO_EPISODES" | "BATCH_FAILED" | "RUN_NOT_TRAINED" | "RUN_NOT_TRAINING" | "RUN_CONTROL_UNANSWERED" | "RUN_CONTROL_UNAVAILABLE" | "TOO_MANY_RUNS" | "RUN_ACTIVE" | "EPISODES_REFERRED_TO" | "SQL_REFUSED" | "SQL_FAILED" | "SQL_LIMIT_EXCEEDED" | "TOO_MANY_CLIENTS" | "STORE_STARTING" | "STORE_UNAVAILABLE" | "LOG_UNAVAILABLE" | "KEYS_UNAVAILABLE" | "SHUTTING_DOWN" | "INTERNAL";
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
            source: "trainer" | "collector" | "validator" | "sink" | "api" | "store" | "system";
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
            /** @description Name of the monitor whose rule is broken; empty for other warnings */
            rule: string;
            /** @description A step to take next; empty where there is none */
            advice: string;
            /** @description Episodes to look at first */
            episodeIds: string[];
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
        LiveRunAnnotated: {
            /** @description Time of the event, milliseconds since the Unix epoch */
            time: number;
            /** @enum {string} */
            state: "annotated";
        };
        StartRunRequest: {
            /** @description A lower-case UUID, best a UUIDv7, which makes the request idempotent. Default: a new one */
            id?: string;
            /** @description Name of the run */
            name: string;
            /** @description Environment of its episodes, where they name none */
            environment?: string;
            /** @description Words to find it by */
            tags?: string[];
            /** @description Anything else that should be kept with it */
            metadata?: unknown;
        };
        EndRunRequest: {
            /**
             * @description How it ended
             * @enum {string}
             */
            reason: "finished" | "stopped" | "failed";
            /** @description Why, in words */
            detail?: string;
        };
        AnnotateRunRequest: {
            /** @description In place of the tags that it has */
            tags?: string[];
            /** @description In place of the notes that it has; empty for none */
            notes?: string;
            /** @description Whether it is marked as one of the important ones */
            starred?: boolean;
            /** @description Whether lists leave it out unless they are asked for it */
            archived?: boolean;
            /**
             * @description Who or what annotates
             * @default caller
             */
            source?: string;
        };
        RecordUpdateRequest: {
            /** @description A lower-case UUID of your own, which makes the request idempotent. Default: a new one */
            id?: string;
            /** @description Must be the next of the run, where it is given */
            updateNumber?: number;
            /** @description Version that it started from */
            policyVersionIn: number;
            /**
             * @description Default: policy
             * @enum {string}
             */
            stage?: "policy" | "imitation";
            /** @description What its rewards are. Default: `recorded` */
            rewardVersion?: string;
            /** @description How its batch was asked for, and what it is: any JSON that should be kept with it */
            batch?: unknown;
            /** @description What made the gradients */
            engine: {
                /** @description Its name: `trl`, `verl` */
                kind: string;
                /** @description Of its library, with what it runs on: `trl 1.16.0` */
                version?: string;
                /** @description `cpu`, or the name of a GPU */
                device?: string;
                /** @description Processes that it trains with. Default: 1 */
                numProcesses?: number;
                /** @description Type in which it multiplies matrices: `bfloat16` */
                precision?: string;
            };
            /** @description The weights, by their content; null or left out where they were not saved. Retrace does not get them */
            weights?: {
                /** @description SHA-256 of its bytes */
                sha256: string;
                /** @description Bytes */
                sizeBytes: number;
            } | null;
            /** @description Where the trainer keeps them: a path or an address */
            location?: string;
            /** @description The model whose weights they are, such as `Qwen/Qwen3-0.6B`. Default: that of the version before */
            model?: string;
            /** @description The optimizer state that belongs to the weights */
            optimizer?: {
                /** @description SHA-256 of its bytes */
                sha256: string;
                /** @description Bytes */
                sizeBytes: number;
            } | null;
            /** @description The episodes that it was trained on, each once */
            episodes: {
                /** @description Run of the episode. Default: the one that the update is of */
                run?: string;
                /** @description Its id, or the name that it was recorded by */
                episode: string;
                /** @description How often each pass over the batch trained it; 0: it was left out. Default: 1 */
                times?: number;
                /** @description Tokens of it that the loss counts. Default: 0 */
                numTokens?: number;
                /** @description Mean importance weight of those tokens. Default: 1 */
                weight?: number | null;
                /** @description Advantages over those tokens */
                advantage?: {
                    /** @description Mean */
                    mean: number;
                    /** @description Standard deviation of the population */
                    deviation: number;
                    /** @description Least */
                    min: number;
                    /** @description Greatest */
                    max: number;
                } | null;
                /** @description Total reward of the episode, as the update used it; null or left out: none */
                reward?: number | null;
                /** @description Of what the trainer read of it, as its batch has it in `episode_digest`; `retrace verify` holds the store against it */
                digest?: string | null;
            }[];
            /** @description Loss of each optimizer step; null where it is no number */
            stepLosses?: (number | null)[];
            /** @description Norm of the gradient of each optimizer step, before it is scaled down; null where it is no number; as many as losses */
            stepGradientNorms?: (number | null)[];
            /** @description Figures of the update by name; null = not available */
            metrics?: {
                [key: string]: number | null;
            };
        };
        PublishPolicyRequest: {
            /** @description Its number, which makes the request idempotent: the next of the run */
            policyVersion: number;
            /** @description Version that it was trained from; null or left out: it is trained from none */
            parentVersion?: number | null;
            /** @description The weights, by their content; null or left out where they were not saved. Retrace does not get them */
            weights?: {
                /** @description SHA-256 of its bytes */
                sha256: string;
                /** @description Bytes */
                sizeBytes: number;
            } | null;
            /** @description Where the trainer keeps them: a path or an address */
            location?: string;
            /** @description The model whose weights they are, such as `Qwen/Qwen3-0.6B`. Default: that of the version before */
            model?: string;
        };
        CreateNotebookRequest: {
            /** @description A lower-case UUID, which makes the request idempotent. Default: a new one */
            id?: string;
            /** @description Title */
            title: string;
            /** @description Cells in their order; at most 262,144 characters of JSON in all */
            cells: {
                /**
                 * @description A query, or text in Markdown
                 * @enum {string}
                 */
                kind: "sql" | "markdown";
                /** @description The query, or the text */
                text: string;
                /**
                 * @description How the page shows the result
                 * @default table
                 * @enum {string}
                 */
                view?: "table" | "chart";
                /** @description Columns of the chart; null: the page chooses by the result */
                plot?: {
                    /** @description Column of the axis */
                    x: string;
                    /** @description Columns that are drawn */
                    ys: string[];
                    /** @description Rows with the same value of this column are one line */
                    by: string | null;
                } | null;
            }[];
            /**
             * @description Who or what writes
             * @default caller
             */
            source?: string;
        };
        SaveNotebookRequest: {
            /** @description The revision that the writer had read; another one is refused */
            revision: number;
            /** @description Title */
            title: string;
            /** @description Cells in their order; at most 262,144 characters of JSON in all */
            cells: {
                /**
                 * @description A query, or text in Markdown
                 * @enum {string}
                 */
                kind: "sql" | "markdown";
                /** @description The query, or the text */
                text: string;
                /**
                 * @description How the page shows the result
                 * @default table
                 * @enum {string}
                 */
                view?: "table" | "chart";
                /** @description Columns of the chart; null: the page chooses by the result */
                plot?: {
                    /** @description Column of the axis */
                    x: string;
                    /** @description Columns that are drawn */
                    ys: string[];
                    /** @description Rows with the same value of this column are one line */
                    by: string | null;
                } | null;
            }[];
            /**
             * @description Who or what writes
             * @default caller
             */
            source?: string;
        };
        AcknowledgeAlarmRequest: {
            /** @description Run of the alarm; left out for a process of no run */
            runId?: string;
            /**
             * @description Process that raised it: `source` in the list of alarms
             * @enum {string}
             */
            alarmSource: "trainer" | "collector" | "validator" | "sink" | "api" | "store" | "system";
            /**
             * @description As in the list of alarms
             * @default
             */
            rule?: string;
            /** @description As in the list of alarms; needed where the alarm has no rule, and without effect elsewhere */
            message?: string;
            /** @description What is known of it, or done about it */
            note?: string;
            /**
             * @description Who acknowledges; with a key, its name is taken
             * @default caller
             */
            source?: string;
        };
        SilenceAlarmsRequest: {
            /** @description Only in this run; left out for all runs */
            runId?: string;
            /** @description Name of the monitor, or `runFailed`; empty for all alarms without a rule */
            rule: string;
            /** @description A time, ISO 8601 with a zone, or how long from now: `30m`, `1h`, `7d`; at most 90 days. `now` ends a silence */
            until: string;
            /** @description Why, in words; needed unless a silence ends */
            note?: string;
            /**
             * @description Who silences; with a key, its name is taken
             * @default caller
             */
            source?: string;
        };
        /** @description Starts an episode */
        EpisodeRecord: {
            /**
             * @description Starts an episode (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "episode";
            /** @description The caller's id of the episode: a lower-case UUID (best a UUIDv7), or any other text, which becomes `externalId` */
            episode: string;
            /** @description Episodes of one group have the same task. Default: the episode itself */
            groupId?: string;
            /**
             * @description Episodes that the group is to have
             * @default 1
             */
            groupSize?: number;
            /**
             * @description Place in the group, from 0
             * @default 0
             */
            groupMember?: number;
            /** @description Default: the run's */
            environment?: string;
            /** @description The task: what the environment was reset with */
            task?: unknown;
            /** @description null = unknown */
            environmentSeed?: number | null;
            /** @description null = unknown */
            samplingSeed?: number | null;
            /**
             * @description Split of the data
             * @default train
             * @enum {string}
             */
            split?: "train" | "validation" | "test";
            /**
             * @description Who acts
             * @default agent
             */
            agent?: string;
            /** @description The caller's own id, where `episode` is a UUID */
            externalId?: string;
            /** @description Words to find it by */
            tags?: string[];
            /** @description Anything else that should be kept with it */
            metadata?: unknown;
            /** @description The episode that called this one, as an agent calls a sub-agent */
            parentEpisode?: string | null;
            forkedFrom?: {
                /** @description The caller's id of the episode: a lower-case UUID (best a UUIDv7), or any other text, which becomes `externalId` */
                episode: string;
                /** @description The step from which it goes on in another way */
                step: number;
            } | null;
            /** @description ISO 8601 text with a time zone, or whole microseconds since the Unix epoch. Default: the arrival */
            occurredAt?: string | number;
        };
        /** @description One step of an episode. Steps come in order; what is unknown is left out */
        StepRecord: {
            /**
             * @description One step (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "step";
            /** @description The caller's id of the episode: a lower-case UUID (best a UUIDv7), or any other text, which becomes `externalId` */
            episode: string;
            /** @description 0, 1, 2 …: the place in the episode, which makes the step idempotent */
            step: number;
            /** @description What the agent saw. Default: the input messages as lines `role: text` */
            observation?: string;
            /** @description What the agent did. Default: the text of the output message, then its tool calls */
            action?: string;
            /** @description The action as the environment understood it */
            parsedAction?: string | null;
            /** @description null = unknown */
            actionValid?: boolean | null;
            /** @description What the environment says identifies its state */
            anchor?: string | null;
            /** @description null = missing, which is not zero */
            reward?: number | null;
            /** @description Parts of the reward by name; null = missing */
            rewards?: {
                [key: string]: number | null;
            };
            /**
             * @description Whether the environment ended the episode with it
             * @default false
             */
            terminated?: boolean;
            /**
             * @description Whether a limit ended the episode with it
             * @default false
             */
            truncated?: boolean;
            /** @description Anything else that should be kept with it */
            info?: unknown;
            /** @description Chat messages that this step added, in the form of OpenAI's chat API */
            messages?: {
                /** @description Messages since the output of the step before, in order */
                input: ({
                    role: string;
                } & {
                    [key: string]: unknown;
                })[];
                /** @description The agent's message; null = none */
                output: ({
                    role: string;
                } & {
                    [key: string]: unknown;
                }) | null;
            } | null;
            /** @description Tokens and cost as the provider counted them; null = unknown */
            usage?: {
                /** @description Tokens of the prompt */
                inputTokens?: number | null;
                /** @description Those of them that came from the provider's cache */
                cachedInputTokens?: number | null;
                /** @description Tokens of the answer */
                outputTokens?: number | null;
                /** @description Those of them that were reasoning */
                reasoningTokens?: number | null;
                /** @description Cost in US dollars */
                costUsd?: number | null;
            } | null;
            /** @description The tokens that this step appended to the context: the new part of the prompt, then the sampled tokens */
            tokens?: {
                /** @description Token ids */
                ids: number[];
                /** @description 1 where the agent sampled the token; no 0 follows a 1 */
                mask: number[];
                /** @description Natural logprobs of the sampled tokens; null where unknown and where mask is 0 */
                logprobs?: (number | null)[] | null;
                /** @description Logprobs before temperature and other sampling transforms, where known beside `logprobs` */
                rawLogprobs?: (number | null)[] | null;
                /** @description Entropies (nats) of the distributions that were sampled from */
                entropies?: (number | null)[] | null;
                /** @description Policy version that sampled each token; −1 = no policy of this run */
                versions?: number[] | null;
                /** @description Experts that a mixture-of-experts model sent each token to, token by token, as many for each (layers × top-k) */
                routedExperts?: number[] | null;
                /** @description Tokens of the context so far that this prompt kept; null or left out = all */
                keptPrefix?: number | null;
            } | null;
            /** @description How the agent sampled; null or left out = unknown */
            sampling?: {
                /** @description Temperature */
                temperature: number;
                /**
                 * @description 0 = off
                 * @default 0
                 */
                topK?: number;
                /**
                 * @description 1 = off
                 * @default 1
                 */
                topP?: number;
                /**
                 * @description Whether the most likely token was taken
                 * @default false
                 */
                greedy?: boolean;
                /** @description Most tokens that could be sampled. Default: the number that were */
                maxNewTokens?: number;
            } | null;
            /** @description Program that sampled */
            engine?: string;
            /** @description Model that sampled */
            model?: string;
            /** @description Identity of the tokenizer */
            tokenizerHash?: string;
            /**
             * @description Whether `logprobs` are after the sampling transform or before it. Default: raw where logprobs are given
             * @enum {string}
             */
            logprobMode?: "processed" | "raw" | "none";
            /** @description Time that the model took; null = unknown */
            generationMs?: number | null;
            /** @description Time that the environment took; null = unknown */
            environmentMs?: number | null;
            /** @description A reason of the caller why no update may train on the step; the server adds its own */
            untrainable?: string;
            /** @description ISO 8601 text with a time zone, or whole microseconds since the Unix epoch. Default: the arrival */
            occurredAt?: string | number;
        };
        /** @description Ends an episode. Its totals are computed from its steps */
        EndRecord: {
            /**
             * @description Ends an episode (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "end";
            /** @description The caller's id of the episode: a lower-case UUID (best a UUIDv7), or any other text, which becomes `externalId` */
            episode: string;
            /**
             * @description Whether the environment ended it, a limit cut it, or nobody goes on with it
             * @default terminated
             * @enum {string}
             */
            endReason?: "terminated" | "truncated" | "abandoned";
            /** @description Why, in words; required where it was abandoned */
            detail?: string;
            /** @description What the agent would have seen next */
            finalObservation?: string;
            /** @description Tokens of the final observation */
            finalTokens?: {
                /** @description Token ids */
                ids: number[];
                /** @description Tokens of the context that the final prompt keeps. Default: all */
                keptPrefix?: number;
            };
            /** @description null = unknown */
            success?: boolean | null;
            /** @description Number of steps, which is checked if given */
            numSteps?: number;
            /** @description ISO 8601 text with a time zone, or whole microseconds since the Unix epoch. Default: the arrival */
            occurredAt?: string | number;
        };
        /** @description Gives a reward, at any time, also after the end. The newest of the same episode, step, name and source counts */
        RewardRecord: {
            /**
             * @description Gives, replaces or retracts a reward (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "reward";
            /** @description The caller's id of this record, which makes it idempotent. Default: its content and time */
            id?: string;
            /** @description The caller's id of the episode: a lower-case UUID (best a UUIDv7), or any other text, which becomes `externalId` */
            episode: string;
            /** @description The step that it rewards; null = the whole episode */
            step?: number | null;
            /** @description Name of the reward */
            name: string;
            /** @description null retracts the reward */
            value: number | null;
            /**
             * @description Who or what gives it
             * @default caller
             */
            source?: string;
            /** @description Why, in words */
            rationale?: string;
            /** @description ISO 8601 text with a time zone, or whole microseconds since the Unix epoch. Default: the arrival */
            occurredAt?: string | number;
        };
        /** @description Replaces tags or metadata of an episode, at any time */
        AnnotationRecord: {
            /**
             * @description Replaces tags or metadata (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "annotation";
            /** @description The caller's id of this record, which makes it idempotent. Default: its content and time */
            id?: string;
            /** @description The caller's id of the episode: a lower-case UUID (best a UUIDv7), or any other text, which becomes `externalId` */
            episode: string;
            /** @description Replace the tags; null or left out = unchanged */
            tags?: string[] | null;
            /** @description Replaces the metadata; null or left out = unchanged */
            metadata?: unknown;
            /**
             * @description Who or what annotates
             * @default caller
             */
            source?: string;
            /** @description ISO 8601 text with a time zone, or whole microseconds since the Unix epoch. Default: the arrival */
            occurredAt?: string | number;
        };
        /** @description A record, told apart by `type` */
        WireRecord: components["schemas"]["EpisodeRecord"] | components["schemas"]["StepRecord"] | components["schemas"]["EndRecord"] | components["schemas"]["RewardRecord"] | components["schemas"]["AnnotationRecord"];
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type SessionStatus = components['schemas']['SessionStatus'];
export type SessionRequest = components['schemas']['SessionRequest'];
export type StoreHealth = components['schemas']['StoreHealth'];
export type LogHealth = components['schemas']['LogHealth'];
export type SinkHealth = components['schemas']['SinkHealth'];
export type Health = components['schemas']['Health'];
export type UpdateProgress = components['schemas']['UpdateProgress'];
export type RecordedFigures = components['schemas']['RecordedFigures'];
export type RunListItem = components['schemas']['RunListItem'];
export type RunBaseline = components['schemas']['RunBaseline'];
export type RunDetail = components['schemas']['RunDetail'];
export type DifferingRecipeField = components['schemas']['DifferingRecipeField'];
export type RecipeDifferences = components['schemas']['RecipeDifferences'];
export type RunTotals = components['schemas']['RunTotals'];
export type NamedChoice = components['schemas']['NamedChoice'];
export type StartOptions = components['schemas']['StartOptions'];
export type TrainRunRequest = components['schemas']['TrainRunRequest'];
export type QueuedRun = components['schemas']['QueuedRun'];
export type TrainingQueue = components['schemas']['TrainingQueue'];
export type TrainingChange = components['schemas']['TrainingChange'];
export type AgentProxy = components['schemas']['AgentProxy'];
export type AgentAccess = components['schemas']['AgentAccess'];
export type AskPolicyRequest = components['schemas']['AskPolicyRequest'];
export type StepTokens = components['schemas']['StepTokens'];
export type PolicyAnswer = components['schemas']['PolicyAnswer'];
export type MetricSeries = components['schemas']['MetricSeries'];
export type MetricSeriesList = components['schemas']['MetricSeriesList'];
export type EpisodeListItem = components['schemas']['EpisodeListItem'];
export type ForkOrigin = components['schemas']['ForkOrigin'];
export type EpisodeFork = components['schemas']['EpisodeFork'];
export type StepValue = components['schemas']['StepValue'];
export type EpisodeScore = components['schemas']['EpisodeScore'];
export type EpisodeUse = components['schemas']['EpisodeUse'];
export type StepReward = components['schemas']['StepReward'];
export type StepUsage = components['schemas']['StepUsage'];
export type StepDetail = components['schemas']['StepDetail'];
export type EpisodeDetail = components['schemas']['EpisodeDetail'];
export type EpisodeSteps = components['schemas']['EpisodeSteps'];
export type EpisodeBranch = components['schemas']['EpisodeBranch'];
export type EpisodeBranches = components['schemas']['EpisodeBranches'];
export type DeletionResult = components['schemas']['DeletionResult'];
export type DeleteTaggedRequest = components['schemas']['DeleteTaggedRequest'];
export type Retention = components['schemas']['Retention'];
export type RetentionRequest = components['schemas']['RetentionRequest'];
export type Update = components['schemas']['Update'];
export type UpdateInput = components['schemas']['UpdateInput'];
export type TrainedTokenColumns = components['schemas']['TrainedTokenColumns'];
export type SamplingPolicy = components['schemas']['SamplingPolicy'];
export type FedUpdate = components['schemas']['FedUpdate'];
export type UpdateLineage = components['schemas']['UpdateLineage'];
export type Distribution = components['schemas']['Distribution'];
export type DistributionList = components['schemas']['DistributionList'];
export type BatchRequest = components['schemas']['BatchRequest'];
export type UpdateRange = components['schemas']['UpdateRange'];
export type QuestionFailure = components['schemas']['QuestionFailure'];
export type WhatIfItem = components['schemas']['WhatIfItem'];
export type WhatIfRequest = components['schemas']['WhatIfRequest'];
export type WhatIfLayer = components['schemas']['WhatIfLayer'];
export type WhatIfGradient = components['schemas']['WhatIfGradient'];
export type WhatIfMetric = components['schemas']['WhatIfMetric'];
export type WhatIfEpisode = components['schemas']['WhatIfEpisode'];
export type WhatIfTokenTotals = components['schemas']['WhatIfTokenTotals'];
export type WhatIfTokens = components['schemas']['WhatIfTokens'];
export type WhatIfUpdateDto = components['schemas']['WhatIfUpdateDto'];
export type WhatIf = components['schemas']['WhatIf'];
export type QuestionChange = components['schemas']['QuestionChange'];
export type ReplayRequest = components['schemas']['ReplayRequest'];
export type UsedEngineDto = components['schemas']['UsedEngineDto'];
export type ReplayEngines = components['schemas']['ReplayEngines'];
export type ReplayedMetric = components['schemas']['ReplayedMetric'];
export type ReplayedOptimizerStep = components['schemas']['ReplayedOptimizerStep'];
export type ReplayResultDto = components['schemas']['ReplayResultDto'];
export type Replay = components['schemas']['Replay'];
export type Policy = components['schemas']['Policy'];
export type AlarmAcknowledgementBody = components['schemas']['AlarmAcknowledgementBody'];
export type AlarmSilenceItem = components['schemas']['AlarmSilenceItem'];
export type AlarmItem = components['schemas']['AlarmItem'];
export type RunWarning = components['schemas']['RunWarning'];
export type AcknowledgedAlarm = components['schemas']['AcknowledgedAlarm'];
export type SilencedAlarms = components['schemas']['SilencedAlarms'];
export type SamplingBlock = components['schemas']['SamplingBlock'];
export type ValidationPass = components['schemas']['ValidationPass'];
export type ValidationFigures = components['schemas']['ValidationFigures'];
export type ValidationAttempt = components['schemas']['ValidationAttempt'];
export type ValidationTask = components['schemas']['ValidationTask'];
export type RewardVersionItem = components['schemas']['RewardVersionItem'];
export type RewardVersionList = components['schemas']['RewardVersionList'];
export type AuditedStretch = components['schemas']['AuditedStretch'];
export type AuditedRewardValue = components['schemas']['AuditedRewardValue'];
export type HackedRewardValue = components['schemas']['HackedRewardValue'];
export type EpisodeToRead = components['schemas']['EpisodeToRead'];
export type RewardAuditReport = components['schemas']['RewardAuditReport'];
export type RewardValueDifference = components['schemas']['RewardValueDifference'];
export type EpisodeRewardChange = components['schemas']['EpisodeRewardChange'];
export type FlippedGroup = components['schemas']['FlippedGroup'];
export type RewardDifferences = components['schemas']['RewardDifferences'];
export type DatasetListItem = components['schemas']['DatasetListItem'];
export type DatasetSplit = components['schemas']['DatasetSplit'];
export type DatasetRun = components['schemas']['DatasetRun'];
export type SplitContamination = components['schemas']['SplitContamination'];
export type DatasetContamination = components['schemas']['DatasetContamination'];
export type DatasetDetail = components['schemas']['DatasetDetail'];
export type DatasetEpisode = components['schemas']['DatasetEpisode'];
export type NotebookListItem = components['schemas']['NotebookListItem'];
export type NotebookPlotBody = components['schemas']['NotebookPlotBody'];
export type NotebookCellBody = components['schemas']['NotebookCellBody'];
export type NotebookDetail = components['schemas']['NotebookDetail'];
export type SavedNotebook = components['schemas']['SavedNotebook'];
export type PlayListItem = components['schemas']['PlayListItem'];
export type PriceOfPlay = components['schemas']['PriceOfPlay'];
export type RunOfPlay = components['schemas']['RunOfPlay'];
export type PassOfPlay = components['schemas']['PassOfPlay'];
export type RowOfPlay = components['schemas']['RowOfPlay'];
export type ComparisonOfPlay = components['schemas']['ComparisonOfPlay'];
export type PlayDetail = components['schemas']['PlayDetail'];
export type SqlRequest = components['schemas']['SqlRequest'];
export type SqlColumn = components['schemas']['SqlColumn'];
export type SqlResult = components['schemas']['SqlResult'];
export type ExplainRequest = components['schemas']['ExplainRequest'];
export type SqlPlannedTable = components['schemas']['SqlPlannedTable'];
export type SqlPlanIndex = components['schemas']['SqlPlanIndex'];
export type SqlPlanStep = components['schemas']['SqlPlanStep'];
export type SqlPlan = components['schemas']['SqlPlan'];
export type SqlTable = components['schemas']['SqlTable'];
export type SqlSchema = components['schemas']['SqlSchema'];
export type StartedRun = components['schemas']['StartedRun'];
export type AnnotatedRun = components['schemas']['AnnotatedRun'];
export type EndedRun = components['schemas']['EndedRun'];
export type AppendedRecords = components['schemas']['AppendedRecords'];
export type OutsideUpdate = components['schemas']['OutsideUpdate'];
export type OutsidePolicy = components['schemas']['OutsidePolicy'];
export type ViolationBody = components['schemas']['ViolationBody'];
export type ProblemBody = components['schemas']['ProblemBody'];
export type LiveMetrics = components['schemas']['LiveMetrics'];
export type LivePolicy = components['schemas']['LivePolicy'];
export type LiveUpdatePlanned = components['schemas']['LiveUpdatePlanned'];
export type LiveUpdateApplied = components['schemas']['LiveUpdateApplied'];
export type LiveWarning = components['schemas']['LiveWarning'];
export type LiveRunStarted = components['schemas']['LiveRunStarted'];
export type LiveRunEnded = components['schemas']['LiveRunEnded'];
export type LiveRunAnnotated = components['schemas']['LiveRunAnnotated'];
export type StartRunRequest = components['schemas']['StartRunRequest'];
export type EndRunRequest = components['schemas']['EndRunRequest'];
export type AnnotateRunRequest = components['schemas']['AnnotateRunRequest'];
export type RecordUpdateRequest = components['schemas']['RecordUpdateRequest'];
export type PublishPolicyRequest = components['schemas']['PublishPolicyRequest'];
export type CreateNotebookRequest = components['schemas']['CreateNotebookRequest'];
export type SaveNotebookRequest = components['schemas']['SaveNotebookRequest'];
export type AcknowledgeAlarmRequest = components['schemas']['AcknowledgeAlarmRequest'];
export type SilenceAlarmsRequest = components['schemas']['SilenceAlarmsRequest'];
export type EpisodeRecord = components['schemas']['EpisodeRecord'];
export type StepRecord = components['schemas']['StepRecord'];
export type EndRecord = components['schemas']['EndRecord'];
export type RewardRecord = components['schemas']['RewardRecord'];
export type AnnotationRecord = components['schemas']['AnnotationRecord'];
export type WireRecord = components['schemas']['WireRecord'];
export type $defs = Record<string, never>;
export interface operations {
    SessionController_status: {
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
                    "application/json": components["schemas"]["SessionStatus"];
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
    SessionController_logIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionStatus"];
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
    SessionController_logOut: {
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
                    "application/json": components["schemas"]["SessionStatus"];
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
    LiveController_stream: {
        parameters: {
            query?: never;
            header?: {
                /** @description Id of the last message that the client received */
                "Last-Event-ID"?: number;
            };
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
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
                    "text/event-stream": components["schemas"]["LiveMetrics"] | components["schemas"]["LivePolicy"] | components["schemas"]["LiveUpdatePlanned"] | components["schemas"]["LiveUpdateApplied"] | components["schemas"]["LiveWarning"] | components["schemas"]["LiveRunStarted"] | components["schemas"]["LiveRunEnded"] | components["schemas"]["LiveRunAnnotated"];
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
                /** @description Only runs of which the name, the environment, a tag or the id has each of these words, whatever their case */
                search?: string;
                /** @description Only runs with this status */
                status?: "running" | "idle" | "finished" | "stopped" | "failed";
                /** @description Only runs of this kind */
                kind?: "trained" | "recorded";
                /** @description Only runs with this tag */
                tag?: string;
                /** @description Only runs with a star (true), or without one */
                starred?: boolean;
                /** @description Only trained runs with the name of this run whose recipes differ from its own only by seed, engine and processes; the run itself is one of them */
                seedsOf?: string;
                /** @description Only trained runs that started from a policy of this run */
                startedFrom?: string;
                /** @description Whether archived runs are among them: none, only those, or all */
                archived?: "none" | "only" | "all";
                /** @description What to sort by: the start, the name, or the newest value of `metric` */
                sort?: "started" | "name" | "metric";
                /** @description Name of the metric to sort by; runs without a finite value come last */
                metric?: string;
                /** @description Order of the sort */
                order?: "ascending" | "descending";
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
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
    IngestController_start: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartRunRequest"];
            };
        };
        responses: {
            /** @description The run had been started with the same id and content */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedRun"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedRun"];
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
            query?: {
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
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
    IngestController_annotate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnnotateRunRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnnotatedRun"];
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
    RunsController_compareRecipes: {
        parameters: {
            query?: {
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the first run, or 4 or more characters of its beginning or end */
                runId: string;
                /** @description Id of the second run, or 4 or more characters of its beginning or end */
                otherRunId: string;
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
                    "application/json": components["schemas"]["RecipeDifferences"];
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
    RunsController_getTotals: {
        parameters: {
            query?: {
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
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
                    "application/json": components["schemas"]["RunTotals"];
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
    RunQueueController_options: {
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
                    "application/json": components["schemas"]["StartOptions"];
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
    RunQueueController_show: {
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
                    "application/json": components["schemas"]["TrainingQueue"];
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
    RunQueueController_start: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TrainRunRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrainingQueue"];
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
    RunQueueController_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id in the queue */
                queueId: string;
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
                    "application/json": components["schemas"]["TrainingQueue"];
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
    RunQueueController_change: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TrainingChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrainingQueue"];
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
    AgentsController_show: {
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
                    "application/json": components["schemas"]["AgentAccess"];
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
    AgentsController_ask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AskPolicyRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyAnswer"];
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
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
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
                /** @description Only episodes that ended for this reason */
                endReason?: "terminated" | "truncated" | "abandoned";
                /** @description true: only episodes of which a step is stored without a part that could not be stored; false: only others */
                poorer?: boolean;
                /** @description Only episodes of this agent: policy, expert, random or the name of an external agent */
                agent?: string;
                /** @description Only episodes of this group */
                groupId?: string;
                /** @description Only episodes with this tag */
                tag?: string;
                /** @description Only episodes in which an observation, an action or a message has this text, whatever its case */
                text?: string;
                /** @description Only episodes with at least this return */
                minReturn?: number;
                /** @description Only episodes with at most this return */
                maxReturn?: number;
                /** @description Only episodes that cost at least this many US dollars */
                minCostUsd?: number;
                /** @description Only episodes that cost at most this many US dollars; those of unknown cost are left out */
                maxCostUsd?: number;
                /** @description Only episodes that started at this time or later */
                startedFrom?: string;
                /** @description Only episodes that started before this time */
                startedBefore?: string;
                /** @description Only episodes in the batch of this update */
                update?: number;
                /** @description Which episodes come first, by their start */
                sort?: "newest" | "oldest";
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
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
                /** @description Maximum number of steps; an answer of more than 100,000 tokens has fewer, as has one where steps are missing */
                maxSteps?: number;
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
                /** @description Id of the episode, or 4 or more characters of its beginning or end */
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
    DeletionController_delete: {
        parameters: {
            query?: {
                /** @description Delete also episodes that updates were trained on, which then can not be replayed */
                force?: boolean;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
                /** @description Id of the episode, or 4 or more characters of its beginning or end */
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
                    "application/json": components["schemas"]["DeletionResult"];
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
    EpisodesController_getSteps: {
        parameters: {
            query?: {
                /** @description `nextStep` of the previous answer */
                fromStep?: number;
                /** @description Maximum number of steps; an answer of more than 100,000 tokens has fewer, as has one where steps are missing */
                maxSteps?: number;
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
                /** @description Id of the episode, or 4 or more characters of its beginning or end */
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
                    "application/json": components["schemas"]["EpisodeSteps"];
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
    EpisodesController_listBranches: {
        parameters: {
            query?: {
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
                /** @description Id of the episode, or 4 or more characters of its beginning or end */
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
                    "application/json": components["schemas"]["EpisodeBranches"];
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
    DeletionController_deleteTagged: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeleteTaggedRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletionResult"];
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
    RetentionController_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
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
                    "application/json": components["schemas"]["Retention"];
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
    RetentionController_set: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetentionRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Retention"];
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
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
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
    OutsideUpdatesController_recordUpdate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecordUpdateRequest"];
            };
        };
        responses: {
            /** @description It had been recorded with the same id and content */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OutsideUpdate"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OutsideUpdate"];
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
    UpdatesController_get: {
        parameters: {
            query?: {
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
                /** @description Number of the update */
                updateNumber: string;
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
                    "application/json": components["schemas"]["Update"];
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
    UpdatesController_inputs: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description `nextCursor` of the previous page */
                cursor?: string;
                /** @description What to sort by; episodes without a value come last */
                sort?: "batch" | "share" | "return" | "age" | "advantage" | "weight" | "ratio" | "tokens";
                /** @description Order of the sort */
                order?: "ascending" | "descending";
                /** @description true: only episodes that succeeded; false: only episodes that failed */
                success?: boolean;
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
                /** @description Number of the update */
                updateNumber: string;
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
                        items: components["schemas"]["UpdateInput"][];
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
    UpdatesController_tokens: {
        parameters: {
            query?: {
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
                /** @description Number of the update */
                updateNumber: string;
                /** @description Id of an episode that fed the update, or 4 or more characters of its beginning or end */
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
                    "application/json": components["schemas"]["TrainedTokenColumns"];
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
    UpdatesController_lineage: {
        parameters: {
            query?: {
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
                /** @description Number of the update */
                updateNumber: string;
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
                    "application/json": components["schemas"]["UpdateLineage"];
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
    UpdatesController_distributions: {
        parameters: {
            query?: {
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
                /** @description Number of the update */
                updateNumber: string;
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
                    "application/json": components["schemas"]["DistributionList"];
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
    BatchesController_make: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BatchRequest"];
            };
        };
        responses: {
            /** @description Rows in Arrow’s stream format */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/vnd.apache.arrow.stream": string;
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
    WhatIfsController_list: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description `nextCursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
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
                        items: components["schemas"]["WhatIfItem"][];
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
    WhatIfsController_ask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WhatIfRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhatIf"];
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
    WhatIfsController_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
                /** @description Id of the what-if, or 4 or more characters of its beginning or end */
                whatIfId: string;
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
                    "application/json": components["schemas"]["WhatIf"];
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
    WhatIfsController_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
                /** @description Id of the what-if, or 4 or more characters of its beginning or end */
                whatIfId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["QuestionChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhatIf"];
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
    ReplaysController_ask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replay"];
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
    ReplaysController_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
                /** @description Id of the replay, or 4 or more characters of its beginning or end */
                replayId: string;
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
                    "application/json": components["schemas"]["Replay"];
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
    ReplaysController_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
                /** @description Id of the replay, or 4 or more characters of its beginning or end */
                replayId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["QuestionChange"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replay"];
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
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
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
    OutsideUpdatesController_publishPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PublishPolicyRequest"];
            };
        };
        responses: {
            /** @description The version had been published with the same content */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OutsidePolicy"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OutsidePolicy"];
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
    AlarmListController_list: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description `nextCursor` of the previous page */
                cursor?: string;
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
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
                        items: components["schemas"]["AlarmItem"][];
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
    AlarmListController_listSilences: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description `nextCursor` of the previous page */
                cursor?: string;
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
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
                        items: components["schemas"]["AlarmSilenceItem"][];
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
    AlarmsController_silence: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SilenceAlarmsRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SilencedAlarms"];
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
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
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
    AlarmsController_acknowledge: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AcknowledgeAlarmRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AcknowledgedAlarm"];
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
    SamplingController_list: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description `nextCursor` of the previous page */
                cursor?: string;
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
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
                        items: components["schemas"]["SamplingBlock"][];
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
    ValidationsController_list: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description `nextCursor` of the previous page */
                cursor?: string;
                /** @description Only figures on tasks of this split */
                split?: "train" | "validation" | "test";
                /** @description Whether figures of single families of tasks are listed too; by default they are */
                families?: boolean;
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
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
                        items: components["schemas"]["ValidationFigures"][];
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
    ValidationsController_listTasks: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description `nextCursor` of the previous page */
                cursor?: string;
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
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
                        items: components["schemas"]["ValidationTask"][];
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
    RewardsController_list: {
        parameters: {
            query?: {
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
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
                    "application/json": components["schemas"]["RewardVersionList"];
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
    RewardsController_audit: {
        parameters: {
            query?: {
                /** @description Only episodes of this split */
                split?: "train" | "validation" | "test" | "all";
                /** @description Most episodes in each list */
                limit?: number;
                /** @description Stretches of equally many episodes that the history is cut into; fewer where one would have fewer than ten episodes */
                stretches?: number;
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
                /** @description Name of the reward version (the newest with that name), or 4 or more characters of its beginning */
                version: string;
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
                    "application/json": components["schemas"]["RewardAuditReport"];
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
    RewardsController_compare: {
        parameters: {
            query?: {
                /** @description Only episodes of this split */
                split?: "train" | "validation" | "test" | "all";
                /** @description Most episodes, or groups, in each list */
                limit?: number;
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
                /** @description Name of the reward version (the newest with that name), or 4 or more characters of its beginning */
                version: string;
                /** @description Name or beginning of the other reward version */
                otherVersion: string;
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
                    "application/json": components["schemas"]["RewardDifferences"];
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
    DatasetsController_list: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description `nextCursor` of the previous page */
                cursor?: string;
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
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
                        items: components["schemas"]["DatasetListItem"][];
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
    DatasetsController_get: {
        parameters: {
            query?: {
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Name of the data set */
                name: string;
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
                    "application/json": components["schemas"]["DatasetDetail"];
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
    DatasetsController_listEpisodes: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description `nextCursor` of the previous page */
                cursor?: string;
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Name of the data set */
                name: string;
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
                        items: components["schemas"]["DatasetEpisode"][];
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
    NotebooksController_list: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description `nextCursor` of the previous page */
                cursor?: string;
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
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
                        items: components["schemas"]["NotebookListItem"][];
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
    NotebooksController_create: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateNotebookRequest"];
            };
        };
        responses: {
            /** @description It had been made with the same id and content */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedNotebook"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedNotebook"];
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
    NotebooksController_get: {
        parameters: {
            query?: {
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the notebook */
                notebookId: string;
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
                    "application/json": components["schemas"]["NotebookDetail"];
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
    NotebooksController_save: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the notebook */
                notebookId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SaveNotebookRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedNotebook"];
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
    NotebooksController_delete: {
        parameters: {
            query?: {
                /** @description The revision that the caller had read; left out: the newest */
                revision?: number;
            };
            header?: never;
            path: {
                /** @description Id of the notebook */
                notebookId: string;
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
                    "application/json": components["schemas"]["SavedNotebook"];
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
    PlaysController_list: {
        parameters: {
            query?: {
                /** @description Maximum number of items */
                limit?: number;
                /** @description `nextCursor` of the previous page */
                cursor?: string;
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
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
                        items: components["schemas"]["PlayListItem"][];
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
    PlaysController_get: {
        parameters: {
            query?: {
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path: {
                /** @description Id of the play, or 4 or more characters of its beginning or end */
                playId: string;
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
                    "application/json": components["schemas"]["PlayDetail"];
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
            query?: {
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
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
            /** @description With `Accept: application/vnd.apache.arrow.stream` the answer is the rows, as an Arrow stream */
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
    SqlController_explain: {
        parameters: {
            query?: {
                /** @description Answers with what was known then: a time such as `2026-11-23T09:00:00.5Z`, the id of an event, or `RUN@N` for the commit of update N of a run, of whose id a part will do */
                asOf?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExplainRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SqlPlan"];
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
    IngestController_end: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EndRunRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndedRun"];
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
    IngestController_append: {
        parameters: {
            query?: never;
            header?: {
                "Content-Encoding"?: "gzip";
            };
            path: {
                /** @description Id of the run, or 4 or more characters of its beginning or end */
                runId: string;
            };
            cookie?: never;
        };
        /** @description At most 16 MiB, also decompressed, and 10,000 records */
        requestBody: {
            content: {
                "application/json": components["schemas"]["WireRecord"] | components["schemas"]["WireRecord"][];
                "application/x-ndjson": string;
                "application/vnd.apache.arrow.stream": string;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppendedRecords"];
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
    TracesController_export: {
        parameters: {
            query?: never;
            header?: {
                /** @description Id or name of the run. Default: `service.name` of each resource */
                "x-retrace-run"?: string;
                "Content-Encoding"?: "gzip";
            };
            path?: never;
            cookie?: never;
        };
        /** @description At most 16 MiB, also decompressed */
        requestBody: {
            content: {
                "application/json": {
                    resourceSpans?: Record<string, never>[];
                };
                "application/x-protobuf": string;
            };
        };
        responses: {
            /** @description The spans are on disk */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        partialSuccess?: {
                            /** @description Spans that were not taken, a 64-bit integer */
                            rejectedSpans?: string;
                            /** @description Why */
                            errorMessage?: string;
                        };
                    };
                    "application/x-protobuf": string;
                };
            };
            /** @description An error */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["ProblemBody"];
                    "application/x-protobuf": string;
                };
            };
        };
    };
}
