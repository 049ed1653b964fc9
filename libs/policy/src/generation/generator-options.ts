import { requireTokenIds } from '../packing/sequence-batch.js';
import { PolicyError } from '../policy-error.js';
import { requireConfig } from '../require-config.js';
import type { Slot } from './slot.js';
import type { Decode, TurnRequest } from './turn.js';

export interface GeneratorOptions {
  readonly maxSlots: number;
  /** Longest context of a slot, including sampled tokens. */
  readonly maxTokens: number;
  /** Most tokens that one turn may sample. */
  readonly maxNewTokens: number;
  /** Most tokens that a step computes with the cache (default 2048); longer prompts take several steps. */
  readonly maxTokensPerStep?: number;
  /** Decodes sampled tokens; required for turns with stop strings. */
  readonly decode?: Decode;
  /** Whether `FinishedTurn.likeliest` is of the distribution after temperature and cuts (default false: before them). */
  readonly likeliestAfterTemperature?: boolean;
}

/** @throws PolicyError `INVALID_CONFIG` */
export function validateGeneratorOptions(
  { maxSlots, maxTokens, maxNewTokens, maxTokensPerStep = maxSlots }: GeneratorOptions,
  maxPositions: number,
): void {
  const rules: [string, number, number, number][] = [
    ['maxSlots', maxSlots, 1, Number.MAX_SAFE_INTEGER],
    ['maxTokens', maxTokens, 1, maxPositions],
    ['maxNewTokens', maxNewTokens, 1, maxTokens],
    // Every live turn gets its token in each step.
    ['maxTokensPerStep', maxTokensPerStep, maxSlots, Number.MAX_SAFE_INTEGER],
  ];
  for (const [name, value, least, most] of rules) {
    const holds = Number.isInteger(value) && value >= least && value <= most;
    requireConfig(holds, `generator option ${name}`, value, `must be an integer of ${least} … ${most}`);
  }
}

/** @throws PolicyError `INVALID_REQUEST` */
export function requireSlot(slot: number, slots: readonly Slot[]): void {
  check(slot in slots, `slot is ${slot}; slots are 0 … ${slots.length - 1}`);
}

/** @throws PolicyError `INVALID_REQUEST`, `INVALID_BATCH` when a turn can't run on a context */
export function requireRequest(
  request: TurnRequest,
  { length, turn }: Slot,
  options: GeneratorOptions,
  vocabSize: number,
): void {
  const { slot, keptPrefixTokens, tokenIds, maxNewTokens } = request;
  const numPromptTokens = keptPrefixTokens + tokenIds.length;
  check(turn === null, `slot ${slot} still runs a turn; step until it finishes, or release the slot`);
  check(
    Number.isInteger(keptPrefixTokens) && keptPrefixTokens >= 0 && keptPrefixTokens <= length,
    `keptPrefixTokens is ${keptPrefixTokens}; the context of slot ${slot} has ${length} tokens`,
  );
  check(numPromptTokens > 0, `the turn for slot ${slot} has no prompt; it needs at least one token`);
  check(
    Number.isInteger(maxNewTokens) && maxNewTokens > 0 && maxNewTokens <= options.maxNewTokens,
    `maxNewTokens is ${maxNewTokens}; it must be 1 … ${options.maxNewTokens}`,
  );
  check(
    numPromptTokens + maxNewTokens <= options.maxTokens,
    `the turn for slot ${slot} may reach ${numPromptTokens + maxNewTokens} tokens; a context has at most ${options.maxTokens}`,
  );
  requireSampling(request, options, vocabSize);
  requireTokenIds(tokenIds, vocabSize);
}

function requireSampling(request: TurnRequest, { decode }: GeneratorOptions, vocabSize: number): void {
  const { temperature, samplingSeed, topK = 0, topP = 1, stopStrings = [], numLikeliest = 0 } = request;
  check(
    temperature > 0 && Number.isFinite(temperature),
    `temperature is ${temperature}; it must be a positive number`,
  );
  check(Number.isInteger(topK) && topK >= 0, `topK is ${topK}; it must be an integer of at least 0`);
  check(topP > 0 && topP <= 1, `topP is ${topP}; it must be above 0 and at most 1`);
  check(
    Number.isInteger(numLikeliest) && numLikeliest >= 0 && numLikeliest <= vocabSize,
    `numLikeliest is ${numLikeliest}; it must be 0 … ${vocabSize}`,
  );
  check(Number.isSafeInteger(samplingSeed), `samplingSeed is ${samplingSeed}; it must be a safe integer`);
  check(!stopStrings.includes(''), 'stopStrings has an empty text, which every text has in it');
  check(
    stopStrings.length === 0 || decode !== undefined,
    'the turn has stopStrings; the generator needs the option decode for them',
  );
}

function check(holds: boolean, message: string): void {
  if (!holds) throw new PolicyError('INVALID_REQUEST', message);
}
