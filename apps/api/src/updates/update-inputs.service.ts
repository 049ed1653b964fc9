import { Injectable } from '@nestjs/common';
import { decodeListCursor, listMark } from '../paging/cursor.js';
import { sqlOrder } from '../paging/order.js';
import { makePage, type Page } from '../paging/page.js';
import { StoreService } from '../store/store.service.js';
import type { TrainedTokenColumns, UpdateInputParams } from './trained-tokens.dto.js';
import {
  DISTRIBUTED,
  INPUT_SORTS,
  SHARE_COLUMNS,
  type Distribution,
  type DistributionList,
  type UpdateInput,
  type UpdateInputsQuery,
  type UpdateParams,
} from './update-inputs.dto.js';

/** Bars of a histogram. */
const NUM_BINS = 24;

const INPUTS_OF_UPDATE =
  'FROM update_inputs WHERE run_id = {runId:String} AND update_number = {updateNumber:UInt64}';

/** The part that an episode may have in the gradient, by the tokens that the loss counts. */
const PULL = `times * num_tokens * ifNull(weight, 1) * sqrt(pow(advantage_mean, 2) + pow(advantage_deviation, 2))`;

// Shares are of all episodes, whatever is asked for.
const INPUTS = `
  SELECT place, episode_run_id, episode_id, group_id, ${SHARE_COLUMNS}, share, return, success, ratio,
    if(policy_version_min < 0, NULL, policy_version_in - policy_version_min) AS age
  FROM (SELECT *, ${PULL} / nullIf(sum(${PULL}) OVER (), 0) AS share ${INPUTS_OF_UPDATE}) AS inputs
  LEFT JOIN (
    SELECT run_id AS episode_run_id, episode_id, return, success, policy_version_min
    FROM episodes
    WHERE run_id IN (SELECT episode_run_id ${INPUTS_OF_UPDATE}) AND episode_id IN (SELECT episode_id ${INPUTS_OF_UPDATE})
  ) AS played USING (episode_run_id, episode_id)
  LEFT JOIN (
    SELECT episode_run_id, episode_id, avg(ratio) AS ratio
    FROM update_tokens
    WHERE run_id = {runId:String} AND update_number = {updateNumber:UInt64}
    GROUP BY episode_run_id, episode_id
  ) AS trained USING (episode_run_id, episode_id)`;

const DISTRIBUTIONS = `
  SELECT name, any(low) AS low, any(high) AS high, sum(mean_part) AS mean, sum(n) AS num_episodes,
    arrayMap(b -> toUInt64(arraySum(arrayMap((at, m) -> if(at = b, m, 0), groupArray(bin), groupArray(n)))), range(${NUM_BINS})) AS counts
  FROM (
    SELECT name, bin, count() AS n, any(low) AS low, any(high) AS high, sum(value) / any(num) AS mean_part
    FROM (
      SELECT name, value, count() OVER (PARTITION BY name) AS num,
        min(value) OVER (PARTITION BY name) AS low, max(value) OVER (PARTITION BY name) AS high,
        if(high = low, 0, least(${NUM_BINS} - 1, toUInt32(floor(${NUM_BINS} * (value - low) / (high - low))))) AS bin
      FROM (
        SELECT tupleElement(pair, 1) AS name, assumeNotNull(tupleElement(pair, 2)) AS value
        FROM (${INPUTS})
        ARRAY JOIN [${DISTRIBUTED.map((name) => `('${name}', toNullable(toFloat64(${INPUT_SORTS[name]})))`).join(', ')}] AS pair
        WHERE tupleElement(pair, 2) IS NOT NULL
      )
    )
    GROUP BY name, bin
  )
  GROUP BY name`;

/** Lists of `TrainedTokenColumns` by the column of `update_tokens` that fills them. */
const TOKEN_FIGURES = {
  advantage: 'advantages',
  ratio: 'ratios',
  value: 'values',
  kl: 'kls',
  entropy: 'entropies',
  teacher_logprob: 'teacher_logprobs',
};

// A token has a row for each optimizer step that trained it. Tuples keep what is NULL in the lists.
const TOKENS = `
  SELECT groupArray(step) AS steps, groupArray(position) AS positions, groupArray(clipped_share) AS clipped_shares,
    ${Object.entries(TOKEN_FIGURES)
      .map(([column, list]) => `arrayMap(each -> each.1, groupArray(last_${column})) AS ${list}`)
      .join(', ')}
  FROM (
    SELECT step, position - 1 AS position, avg(clipped) AS clipped_share,
      ${Object.keys(TOKEN_FIGURES)
        .map((column) => `argMax(tuple(${column}), optimizer_step) AS last_${column}`)
        .join(', ')}
    FROM update_tokens
    WHERE run_id = {runId:String} AND update_number = {updateNumber:UInt64} AND episode_id = {episodeId:String}
    GROUP BY step, position
    ORDER BY step, position
  )`;

/** The episodes of an update, what it made of them, and of their tokens. */
@Injectable()
export class UpdateInputsService {
  constructor(private readonly store: StoreService) {}

  /** Histograms over the episodes of an update, in the order of `DISTRIBUTED`; without those that no episode has a value of. */
  async distributions({ runId, updateNumber }: UpdateParams): Promise<DistributionList> {
    const rows = await this.store.queryRows<Distribution>(DISTRIBUTIONS, { runId, updateNumber });
    const found = DISTRIBUTED.map((name) => rows.find((row) => row.name === name));
    return { distributions: found.filter((one) => one !== undefined) };
  }

  /** Tokens of an episode that an update trained; none where it did not, or did not record them. */
  async tokens(params: UpdateInputParams): Promise<TrainedTokenColumns> {
    const [tokens] = await this.store.queryRows<TrainedTokenColumns>(TOKENS, { ...params });
    return tokens;
  }

  /** In the order that is asked for; none for an update that is not applied, or from before these were recorded. */
  async list(
    { runId, updateNumber }: UpdateParams,
    { limit, cursor, sort, order, success }: UpdateInputsQuery,
  ): Promise<Page<UpdateInput>> {
    const mark = listMark([runId, updateNumber, sort, order, success ?? null]);
    const [from] = cursor ? decodeListCursor(cursor, mark, ['number']) : [0];
    // An update never gets other inputs, so pages are told apart by where they begin.
    const query = `${INPUTS}
      WHERE {success:Nullable(Bool)} IS NULL OR success = {success:Nullable(Bool)}
      ORDER BY ${INPUT_SORTS[sort]} ${sqlOrder(order)}, place
      LIMIT {limit:UInt32} OFFSET {from:UInt64}`;
    const params = { runId, updateNumber, success: success ?? null, from, limit: limit + 1 };
    const rows = await this.store.queryRows<UpdateInput>(query, params);
    return makePage(rows, limit, { toItem: (row) => row, keyOf: () => [mark, from + limit] });
  }
}
