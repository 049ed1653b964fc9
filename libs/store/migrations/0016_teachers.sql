-- The view `update_tokens` with what the teacher of a distillation said of each token.
--
-- `update_token_figures` has a sixth array, logprobs of the teacher, in the events of updates that had one.

-- A row for each trained token of each optimizer step. The inputs of the update name the episodes; they have none of a deleted episode, and none
-- of a commit that does not count.
CREATE OR REPLACE VIEW update_tokens AS
SELECT
    t.run_id AS run_id,
    t.update_number AS update_number,
    t.optimizer_step AS optimizer_step,
    i.episode_run_id AS episode_run_id,
    i.episode_id AS episode_id,
    i.group_id AS group_id,
    t.step AS step,
    t.position AS position,
    if(isNaN(t.ratio), NULL, t.ratio) AS ratio,
    if(isNaN(t.advantage), NULL, t.advantage) AS advantage,
    if(isNaN(t.value), NULL, t.value) AS value,
    if(isNaN(t.kl), NULL, t.kl) AS kl,
    if(isNaN(t.entropy), NULL, t.entropy) AS entropy,
    if(isNaN(t.teacher_logprob), NULL, t.teacher_logprob) AS teacher_logprob,
    t.clipped AS clipped,
    t.plan_id AS plan_id
FROM
(
    SELECT
        run_id,
        update_number,
        plan_id,
        epoch,
        optimizer_step,
        place,
        toUInt32(step) AS step,
        toUInt32(position_from_0 + 1) AS position,
        ratio,
        advantage,
        value,
        kl,
        entropy,
        teacher_logprob,
        toBool(is_clipped) AS clipped
    FROM
    (
        SELECT
            run_id, update_number, plan_id, epoch,
            update_token_places AS places,
            update_token_figures AS figures,
            intDiv(length(places), 5) AS n
        FROM events
        WHERE episode_id = '' AND kind = 'UpdateTokensTraced'
        ORDER BY run_id, log_id, log_stream, log_partition, log_offset
        LIMIT 1 BY run_id, event_id
    )
    ARRAY JOIN
        arrayMap(x -> toUInt32(x), arraySlice(places, 1, n)) AS optimizer_step,
        arrayMap(x -> toUInt32(x), arraySlice(places, n + 1, n)) AS place,
        arraySlice(places, 2 * n + 1, n) AS step,
        arraySlice(places, 3 * n + 1, n) AS position_from_0,
        arraySlice(places, 4 * n + 1, n) AS is_clipped,
        arraySlice(figures, 1, n) AS ratio,
        arraySlice(figures, n + 1, n) AS advantage,
        arraySlice(figures, 2 * n + 1, n) AS value,
        arraySlice(figures, 3 * n + 1, n) AS kl,
        arraySlice(figures, 4 * n + 1, n) AS entropy,
        if(length(figures) = 6 * n, arraySlice(figures, 5 * n + 1, n), arrayWithConstant(n, nan)::Array(Float32)) AS teacher_logprob
) AS t
INNER JOIN
(
    SELECT run_id, update_number, plan_id, epoch, place, episode_run_id, episode_id, group_id
    FROM traced_inputs FINAL
    SETTINGS use_skip_indexes_if_final_exact_mode = 0
) AS i
ON t.run_id = i.run_id AND t.update_number = i.update_number AND t.plan_id = i.plan_id AND t.epoch = i.epoch AND t.place = i.place;
