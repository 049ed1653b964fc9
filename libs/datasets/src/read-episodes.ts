import { amongEpisodes, type StoreClient } from '@retrace/store';
import { isUuid } from '@retrace/trajectory';
import { DatasetError } from './dataset-error.js';
import type {
  RecordedMessage,
  EpisodeFacts,
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
         agent, success, return, end_reason AS endReason, sealed, tags, metadata, final_observation AS finalObservation,
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
  { withTokens }: { readonly withTokens: boolean },
): Promise<Map<string, StoredEpisode>> {
  const tokens = withTokens
    ? ', kept_prefix_tokens AS keptPrefix, token_ids AS ids, action_mask AS mask, token_logprobs AS logprobs'
    : '';
  const rows = await client.queryRows<StepRow>(
    `SELECT
       episode_id AS episodeId, step, formatDateTime(occurred_at, '%Y-%m-%dT%H:%i:%S.%fZ') AS occurredAt, observation, action, reward,
       anchor, model, messages, input_tokens AS inputTokens, cached_input_tokens AS cachedInputTokens,
       output_tokens AS outputTokens, cost_usd AS costUsd${tokens}
     FROM steps WHERE ${among(facts)} ORDER BY run_id, episode_id, step`,
  );
  const steps = new Map<string, StoredStep[]>(facts.map(({ episodeId }) => [episodeId, []]));
  for (const row of rows) steps.get(row.episodeId)?.push(stepOf(row));
  return new Map(facts.map((fact) => [fact.episodeId, { ...fact, steps: steps.get(fact.episodeId) ?? [] }]));
}

interface StepRow extends Partial<StoredTokens> {
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
  readonly inputTokens: number | null;
  readonly cachedInputTokens: number | null;
  readonly outputTokens: number | null;
  readonly costUsd: number | null;
}

function stepOf(row: StepRow): StoredStep {
  const { step, occurredAt, observation, action, reward, anchor, model } = row;
  const { inputTokens, cachedInputTokens, outputTokens, costUsd } = row;
  const { ids, mask, logprobs, keptPrefix } = row;
  return {
    step,
    occurredAt,
    observation,
    action,
    reward,
    anchor,
    model,
    messages: messagesOf(row.messages),
    usage: { inputTokens, cachedInputTokens, outputTokens, costUsd },
    tokens:
      ids === undefined || mask === undefined || logprobs === undefined
        ? null
        : { ids, mask, logprobs, keptPrefix: keptPrefix ?? 0 },
  };
}

function messagesOf(json: string | null): StoredStep['messages'] {
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
