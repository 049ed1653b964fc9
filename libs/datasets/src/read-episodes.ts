import { amongEpisodes, type StoreClient } from '@retrace/store';
import { isUuid, type Json } from '@retrace/trajectory';
import { DatasetError } from './dataset-error.js';
import type {
  RecordedMessage,
  EpisodeFacts,
  StoredDetails,
  StoredEpisode,
  StoredStep,
  StoredTokens,
} from './stored-episode.js';

export interface EpisodeKey {
  readonly runId: string;
  readonly episodeId: string;
}

const FACTS_PER_QUERY = 5_000;

/** Reads what is known of episodes without their steps, by episode id. An episode that the store lacks is left out. */
export async function readEpisodeFacts(
  client: StoreClient,
  keys: readonly EpisodeKey[],
): Promise<Map<string, EpisodeFacts>> {
  const facts = new Map<string, EpisodeFacts>();
  for (let from = 0; from < keys.length; from += FACTS_PER_QUERY) {
    const rows = await client.queryRows<EpisodeFacts>(
      `SELECT
         run_id AS runId, episode_id AS episodeId, group_id AS groupId, environment, environment_seed AS environmentSeed, task, split,
         agent, success, return, end_reason AS endReason, end_detail AS endDetail, sampling_seed AS samplingSeed, sealed, tags, metadata, final_observation AS finalObservation,
         formatDateTime(started_at, '%Y-%m-%dT%H:%i:%S.%fZ') AS startedAt
       FROM episodes WHERE ${among(keys.slice(from, from + FACTS_PER_QUERY))}`,
    );
    for (const row of rows) facts.set(row.episodeId, row);
  }
  return facts;
}

/**
 * Reads the steps of episodes whose facts are known, by episode id.
 *
 * @param options.withTokens whether the token columns are read, which are several times as large as the texts
 */
export async function readEpisodes(
  client: StoreClient,
  facts: readonly EpisodeFacts[],
  { withTokens, withDetails = withTokens }: { readonly withTokens: boolean; readonly withDetails?: boolean },
): Promise<Map<string, StoredEpisode>> {
  const more = `${withTokens ? `, ${TOKEN_COLUMNS}` : ''}${withDetails ? `, ${DETAIL_COLUMNS}` : ''}`;
  const rows = await client.queryRows<StepRow>(
    `SELECT
       episode_id AS episodeId, step, formatDateTime(occurred_at, '%Y-%m-%dT%H:%i:%S.%fZ') AS occurredAt, observation, action, reward,
       anchor, model, messages, kept_messages AS keptMessages, nullIf(JSONExtractRaw(info, 'toolDefinitions'), '') AS toolDefinitions,
       JSONExtract(info, 'agent', 'numHiddenTurns', 'Nullable(UInt32)') AS numHiddenTurns, kept_prefix_tokens AS keptPrefixTokens,
       length(token_ids) AS numTokens, indexOf(action_mask, 1) AS firstActionToken, input_tokens AS inputTokens, cached_input_tokens AS cachedInputTokens,
       output_tokens AS outputTokens, cost_usd AS costUsd${more}
     FROM steps WHERE ${among(facts)} ORDER BY run_id, episode_id, step`,
  );
  const steps = new Map<string, StoredStep[]>(facts.map(({ episodeId }) => [episodeId, []]));
  for (const row of rows) steps.get(row.episodeId)?.push(readStep(row));
  return new Map(facts.map((fact) => [fact.episodeId, { ...fact, steps: steps.get(fact.episodeId) ?? [] }]));
}

/** Columns that are several times as large as the texts. */
const TOKEN_COLUMNS = 'token_ids AS ids, action_mask AS mask, token_logprobs AS logprobs';

const DETAIL_COLUMNS = `
  parsed_action AS parsedAction, action_valid AS actionValid,
  mapFromArrays(CAST(reward_names, 'Array(String)'), reward_values) AS rewards, terminated, truncated, info, temperature, top_k AS topK,
  top_p AS topP, greedy, max_new_tokens AS maxNewTokens, engine, tokenizer_hash AS tokenizerHash, logprob_mode AS logprobMode`;

type TokenRow = Pick<StoredTokens, 'ids' | 'mask' | 'logprobs'>;

interface DetailRow extends Omit<StoredDetails, 'info' | 'sampling'> {
  readonly info: string | null;
  readonly temperature: number | null;
  readonly topK: number;
  readonly topP: number;
  readonly greedy: boolean;
  readonly maxNewTokens: number;
}

interface StepRow extends Partial<TokenRow>, Partial<DetailRow> {
  readonly episodeId: string;
  readonly step: number;
  readonly occurredAt: string;
  readonly observation: string;
  readonly action: string;
  readonly reward: number | null;
  readonly anchor: string | null;
  readonly model: string;
  /** JSON text; null where the recorder gave none. */
  readonly messages: string | null;
  readonly keptMessages: number | null;
  /** JSON text; null where the step has none. */
  readonly toolDefinitions: string | null;
  readonly numHiddenTurns: number | null;
  readonly keptPrefixTokens: number;
  readonly numTokens: number;
  /** From 1; 0 = none was sampled. */
  readonly firstActionToken: number;
  readonly inputTokens: number | null;
  readonly cachedInputTokens: number | null;
  readonly outputTokens: number | null;
  readonly costUsd: number | null;
}

function readStep(row: StepRow): StoredStep {
  const { step, occurredAt, observation, action, reward, anchor, model } = row;
  const { inputTokens, cachedInputTokens, outputTokens, costUsd } = row;
  const { keptMessages, numHiddenTurns, keptPrefixTokens, numTokens, firstActionToken } = row;
  const messages = readMessages(row.messages);
  return {
    step,
    occurredAt,
    observation,
    action,
    reward,
    anchor,
    model,
    messages,
    keptMessages,
    numHiddenTurns,
    toolDefinitions: row.toolDefinitions === null ? null : (JSON.parse(row.toolDefinitions) as Json),
    numTokens,
    numPromptTokens: firstActionToken === 0 ? numTokens : firstActionToken - 1,
    keptPrefixTokens,
    usage: { inputTokens, cachedInputTokens, outputTokens, costUsd },
    tokens: hasTokens(row)
      ? { ids: row.ids, mask: row.mask, logprobs: row.logprobs, keptPrefix: keptPrefixTokens }
      : null,
    details: hasDetails(row) ? readDetails(row) : null,
  };
}

const hasTokens = (row: StepRow): row is StepRow & TokenRow => row.ids !== undefined;
const hasDetails = (row: StepRow): row is StepRow & DetailRow => row.info !== undefined;

function readDetails(row: DetailRow): StoredDetails {
  const { parsedAction, actionValid, rewards, terminated, truncated, engine, tokenizerHash, logprobMode } =
    row;
  const { info, temperature, topK, topP, greedy, maxNewTokens } = row;
  return {
    parsedAction,
    actionValid,
    rewards,
    terminated,
    truncated,
    info: JSON.parse(info ?? 'null') as Json,
    sampling: temperature === null ? null : { temperature, topK, topP, greedy, maxNewTokens },
    engine,
    tokenizerHash,
    logprobMode,
  };
}

function readMessages(json: string | null): StoredStep['messages'] {
  if (json === null) return null;
  return JSON.parse(json) as {
    readonly input: readonly RecordedMessage[];
    readonly output: RecordedMessage | null;
  };
}

/** Writes the condition that a row belongs to one of these episodes. */
export function among(keys: readonly EpisodeKey[]): string {
  const runIds = [...new Set(keys.map(({ runId }) => runId))];
  const bad = runIds.find((id) => !isUuid(id));
  if (bad !== undefined)
    throw new DatasetError('SELECTION_INVALID', `run_id is "${bad}"; must be a lower-case UUID`);
  const runs = runIds.map((id) => `'${id}'`).join(', ');
  return `run_id IN (${runs}) AND ${amongEpisodes(keys.map(({ episodeId }) => episodeId))}`;
}
