import { asObject, isJsonObject } from '@retrace/chat';
import { hash } from 'node:crypto';
import {
  asFields,
  asText,
  type Fields,
  integersOrNull,
  isMissing,
  json,
  known,
  looseNumber,
  looseText,
} from '../fields.js';
import { episodeName, rowEpisodeId, type ImportFormat } from '../format.js';
import { RowFault } from '../skip.js';
import { logprobColumn } from '../tokens/token-context.js';
import type { WireEpisode, WireStep, WireTokens } from '@retrace/recording';

/** Fields of a row that are no extra of the reward function. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  'input',
  'output',
  'gts',
  'score',
  'step',
  'prompt_ids',
  'response_ids',
  'response_mask',
  'response_logprobs',
  'reward_score',
  'num_turns',
  'metrics',
  'extra_fields',
  'uid',
]);

/**
 * Rollout dumps of verl, `{input, output, gts, score, step}` and the extras of the reward function: one step each, since special tokens
 * and with them the roles are gone. Rows of an agent loop's output have token ids, mask and logprobs as well.
 */
export const verl: ImportFormat = {
  name: 'verl',
  description: 'rollout and validation dumps of verl',
  parquetColumns: null,
  keyOf: null,
  detects: (row) => isJsonObject(row) && (isDump(row) || isLoopOutput(row)),
  map: ([row], origin) => {
    const fields = asFields(row.value, 'row');
    if (!isDump(fields) && !isLoopOutput(fields)) {
      throw new RowFault('FIELD_MISSING', '"output" or "response_ids" is missing');
    }
    const episode = rowEpisodeId(origin, row);
    const parts = findTokens(fields) ?? [undefined];
    const steps = parts.map((tokens, index) =>
      known<WireStep>({
        type: 'step',
        episode,
        step: index,
        ...(index === 0 ? readTexts(fields) : {}),
        ...(index === parts.length - 1 ? readRewards(fields) : {}),
        tokens,
      }),
    );
    const metadata = known({
      globalStep: looseNumber(fields.step),
      numTurns: looseNumber(fields.num_turns),
      file: row.file,
      row: row.number,
    });
    const end = { type: 'end' as const, episode, endReason: 'terminated' as const, numSteps: steps.length };
    const groupId = findGroup(fields);
    const start = known<WireEpisode>({ type: 'episode', episode, groupId, metadata: json(metadata) });
    return { episodes: [[start, ...steps, end]], skipped: [] };
  },
};

/** The group of a row: its prompt's `uid`, else its input in its step; undefined where it has neither. */
function findGroup({ uid, input, step, extra_fields: extra }: Fields): string | undefined {
  const given = looseText(uid) ?? looseText(asObject(extra).uid);
  if (given !== undefined) return episodeName(given);
  const number = looseNumber(step);
  if (typeof input !== 'string' || number === undefined) return undefined;
  return `step-${number}/${hash('sha256', input, 'hex')}`;
}

/** The texts of a dump, which hold the whole response whatever turns it had. */
function readTexts({ input, output }: Fields): Partial<WireStep> {
  return {
    observation: isMissing(input) ? undefined : asText(input, 'input'),
    action: isMissing(output) ? undefined : asText(output, 'output'),
  };
}

/** verl scores the whole response, at its last token. */
function readRewards(fields: Fields): Partial<WireStep> {
  const { numbers, others } = readExtras(fields);
  const info = known({ groundTruth: fields.gts ?? undefined, ...others });
  return {
    reward: looseNumber(fields.score ?? fields.reward_score),
    rewards: Object.keys(numbers).length === 0 ? undefined : numbers,
    info: Object.keys(info).length === 0 ? undefined : json(info),
  };
}

function isDump(row: Fields): boolean {
  return typeof row.input === 'string' && typeof row.output === 'string' && ('score' in row || 'step' in row);
}

function isLoopOutput(row: Fields): boolean {
  return Array.isArray(row.prompt_ids) && Array.isArray(row.response_ids);
}

/**
 * Extras of the reward function: numbers, and booleans as 1 and 0, are named rewards; the rest is kept as it is. A text stays a text
 * whatever is in it: an answer or an id, whose last digits a number would lose.
 */
function readExtras(fields: Fields): { numbers: Record<string, number>; others: Record<string, unknown> } {
  const numbers: Record<string, number> = {};
  const others: Record<string, unknown> = {};
  const extras = { ...fields, ...asObject(fields.extra_fields) };
  for (const [name, value] of Object.entries(extras)) {
    if (KNOWN_FIELDS.has(name) || isMissing(value)) continue;
    if (typeof value === 'number' || typeof value === 'boolean') numbers[name] = Number(value);
    else others[name] = value;
  }
  return { numbers, others };
}

/**
 * Token columns of an agent loop's output, a step for each turn: in a response of several turns the answers of tools, which have mask 0,
 * begin the next step. Tokens after the last sampled one are left out, since nothing answers them. undefined for a dump, which has none.
 */
function findTokens(fields: Fields): readonly WireTokens[] | undefined {
  const prompt = integersOrNull(fields.prompt_ids, 'prompt_ids');
  const response = integersOrNull(fields.response_ids, 'response_ids');
  if (prompt === null || response === null) return undefined;
  const mask = integersOrNull(fields.response_mask, 'response_mask') ?? response.map(() => 1);
  if (mask.length !== response.length) {
    const detail = `"response_mask" has ${mask.length} values for ${response.length} response tokens`;
    throw new RowFault('WRONG_TYPE', detail);
  }
  const logprobs = logprobColumn(fields.response_logprobs, 'response_logprobs', response.length);
  const ids = [...prompt, ...response];
  const isSampled = (at: number) => at >= prompt.length && mask[at - prompt.length] !== 0;
  const parts: WireTokens[] = [];
  let start = 0;
  for (let at = 0; at < ids.length; at++) {
    if (!isSampled(at) || (at + 1 < ids.length && isSampled(at + 1))) continue;
    const places = Array.from({ length: at + 1 - start }, (_, index) => start + index);
    parts.push({
      ids: places.map((place) => ids[place]),
      mask: places.map((place) => (isSampled(place) ? 1 : 0)),
      ...(logprobs === null
        ? {}
        : { logprobs: places.map((place) => (isSampled(place) ? logprobs[place - prompt.length] : 0)) }),
    });
    start = at + 1;
  }
  if (parts.length === 0) throw new RowFault('NO_AGENT_TURN', 'no token of it was sampled');
  return parts;
}
