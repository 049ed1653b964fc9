import type { StoreClient } from '@retrace/store';
import { DatasetError } from '../dataset-error.js';
import { among, type EpisodeKey } from '../read-episodes.js';

/** Facts of a policy that stored steps must fit for it to be trained on them. */
export interface TrainingRules {
  /** Hash of the tokenizer of the policy. */
  readonly tokenizerHash: string;
  /** Of sampling, which logprobs are computed with. */
  readonly temperature: number;
  /** Whether updates read behavior logprobs. Imitation does not, so it can use any tokens. */
  readonly readsLogprobs: boolean;
  /** Why groups must be whole: what compares their episodes, in words; null where nothing does. */
  readonly comparesGroups: string | null;
}

type FactsOfSteps = Pick<TrainingRules, 'tokenizerHash' | 'temperature' | 'readsLogprobs'>;

interface FaultRow extends EpisodeKey {
  readonly fault: string;
  readonly atStep: number;
  readonly numEpisodes: number;
}

const EPISODES_PER_QUERY = 5_000;
const UNKNOWN_TOKENIZER = 'tokenizer unknown';
const NAME_TOKENIZER =
  'Who records must name the tokenizer: `tokenizerHash` of a step, `retrace proxy --tokenizer <model directory>`';

/**
 * Checks that every step of the episodes has what the update needs: tokens of the policy's tokenizer, and for a policy gradient behavior
 * logprobs that can be accounted for, and the temperature of the recipe.
 *
 * @throws DatasetError `NOT_TRAINABLE` naming each rule with its count and first example; StoreError
 */
export async function requireTrainable(
  client: StoreClient,
  keys: readonly EpisodeKey[],
  rules: FactsOfSteps,
): Promise<void> {
  const faults = await readFaults(client, keys, rules);
  if (faults.length === 0) return;
  const listed = faults.map(
    ({ fault, runId, episodeId, atStep, numEpisodes }) =>
      `${numEpisodes.toLocaleString('en')} × ${fault} (first: run ${runId}, episode ${episodeId}, step ${atStep})`,
  );
  // Imitation needs tokens of the policy's tokenizer, and no more.
  const ofImitation = rules.readsLogprobs
    ? await readFaults(client, keys, { ...rules, readsLogprobs: false })
    : faults;
  throw new DatasetError(
    'NOT_TRAINABLE',
    `Of ${keys.length.toLocaleString('en')} chosen episodes, some can't be trained on: ${listed.join('; ')}. ` +
      'Leave them out of the query' +
      (ofImitation.length === 0 ? ', or imitate: `--algorithm filtered-imitation` reads no logprobs' : '') +
      (ofImitation.some(({ fault }) => fault.startsWith(UNKNOWN_TOKENIZER)) ? `. ${NAME_TOKENIZER}` : ''),
  );
}

/** Reads the rules that are broken, each with its count and first example. */
async function readFaults(
  client: StoreClient,
  keys: readonly EpisodeKey[],
  rules: FactsOfSteps,
): Promise<readonly FaultRow[]> {
  const faults = new Map<string, FaultRow>();
  for (let from = 0; from < keys.length; from += EPISODES_PER_QUERY) {
    for (const row of await queryFaults(client, keys.slice(from, from + EPISODES_PER_QUERY), rules)) {
      const known = faults.get(row.fault);
      const numEpisodes = (known?.numEpisodes ?? 0) + row.numEpisodes;
      faults.set(row.fault, { ...(known ?? row), numEpisodes });
    }
  }
  return [...faults.values()];
}

/** The first step of each episode that breaks a rule, counted by rule. */
function queryFaults(
  client: StoreClient,
  keys: readonly EpisodeKey[],
  { tokenizerHash, temperature, readsLogprobs }: FactsOfSteps,
): Promise<FaultRow[]> {
  return client.queryRows<FaultRow>(
    `SELECT fault, toUInt32(uniqExact(run_id, episode_id)) AS numEpisodes,
       min(tuple(run_id, episode_id, step)) AS first_step, tupleElement(first_step, 1) AS runId,
       tupleElement(first_step, 2) AS episodeId, toUInt32(tupleElement(first_step, 3)) AS atStep
     FROM (
       SELECT run_id, episode_id, step,
         multiIf(
           empty(token_ids), 'a step has no tokens, must have those that the policy saw and sampled',
           {readsLogprobs:Bool} AND untrainable != '', concat('a step is not trainable: ', untrainable),
           tokenizer_hash != {tokenizerHash:String},
             concat('tokenizer ', if(tokenizer_hash = '', 'unknown', tokenizer_hash), ', must be the policy''s, ', {tokenizerHash:String}),
           {readsLogprobs:Bool} AND (temperature IS NULL OR abs(temperature - {temperature:Float64}) > 1e-6),
             concat('sampled at temperature ', ifNull(toString(temperature), 'unknown'), ', must be ', toString({temperature:Float64})),
           '') AS fault
       FROM steps WHERE ${among(keys)}
     )
     WHERE fault != ''
     GROUP BY fault
     ORDER BY fault`,
    { params: { tokenizerHash, temperature, readsLogprobs } },
  );
}
