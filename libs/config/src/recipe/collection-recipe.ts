import { IsIn, IsOptional, Type, ValidateNested } from '@retrace/validation';
import { MAX_TEMPERATURE, MIN_TEMPERATURE } from './choices.js';
import { EndpointRecipe } from './endpoint-recipe.js';
import { Advanced, IsList, IsNullable, IsNumberFrom, IsText, IsWholeNumberFrom } from './field-rules.js';

const TIMEOUT = { unit: 'milliseconds', why: 'the most is a day' };

/** How the text of an episode becomes tokens, and when a turn of the policy ends. */
export class ContextRecipe {
  /** Context that the policy sees: only the current `observation`, or the `history` of the whole episode in one context with a KV cache. */
  @IsIn(['observation', 'history']) readonly window!: 'observation' | 'history';
  /** Tokenizer: one token a `word` of the environment's vocabulary, one a `byte` of UTF-8, or the tokenizer of the `model` directory that `policy.model` names. */
  @IsIn(['word', 'byte', 'model']) readonly tokenizer!: 'word' | 'byte' | 'model';
  /** Most tokens that the policy may sample in one turn. */
  @IsWholeNumberFrom(1, 4096, { unit: 'tokens', why: 'a turn is kept in memory as a whole' })
  readonly maxNewTokens!: number;
  /** A turn of several tokens ends as soon as its text contains one of these; the action is the text before it. @defaultValue [] */
  @IsOptional()
  @IsList(0, 16)
  @IsText({ maxLength: 200, each: true })
  readonly stopStrings?: readonly string[];
  /**
   * Response to an observation that no longer fits into the context of its episode: the episode ends as truncated
   * (`truncate`), or with window `history` the oldest turns leave the context until it is at most half full (`dropOldest`). A first
   * observation that does not fit always ends its episode, before any action. @defaultValue "truncate"
   */
  @Advanced() @IsOptional() @IsIn(['truncate', 'dropOldest']) readonly whenFull?: 'truncate' | 'dropOldest';
}

/** How episodes are collected. */
export class CollectionRecipe {
  /** Groups in a round; one policy update trains on one round. */
  @IsWholeNumberFrom(1, 65_536, { unit: 'groups', why: 'an update holds its round in memory' })
  readonly groupsPerRound!: number;
  /** Episodes in a group; they share task and environment seed, and are sampled independently. */
  @IsWholeNumberFrom(1, 1024, { unit: 'episodes', why: 'an update holds its round in memory' })
  readonly groupSize!: number;
  /** Most episodes that a collector plays at the same time; changes speed and memory, never the result. @defaultValue 512 */
  @Advanced()
  @IsWholeNumberFrom(1, 8192, { unit: 'episodes', why: 'each keeps its keys and values in memory' })
  readonly concurrentEpisodes: number = 512;
  /** Policy versions by which the behavior policy may lag behind the policy being trained; 0 is synchronous training. @defaultValue 0 */
  @IsWholeNumberFrom(0, 64, { unit: 'policy versions', why: 'older samples say nothing about the policy' })
  readonly maxStaleness: number = 0;
  /** Temperature of sampling in training episodes. @defaultValue 1 */
  @IsNumberFrom(MIN_TEMPERATURE, MAX_TEMPERATURE, { why: 'below, sampling is greedy; above, it is uniform' })
  readonly temperature: number = 1;
  /**
   * Number of likeliest tokens that training episodes sample among; 0 is all. Only for algorithms that imitate (`filtered-imitation`, `best-of-n`, `awr`): for
   * the others a token may leave what the policy can sample so, and has no ratio. @defaultValue 0
   */
  @IsOptional()
  @IsWholeNumberFrom(0, 10_000_000, { unit: 'tokens', why: 'no vocabulary has more' })
  readonly topK?: number;
  /** Probability of the likeliest tokens that training episodes sample among, as with `topK`; 1 is all. @defaultValue 1 */
  @IsOptional()
  @IsNumberFrom(0.001, 1, { why: 'it is a probability, and at 0 nothing is left' })
  readonly topP?: number;
  /** Longest time that an environment may take for a reset; after it the episode ends as truncated, without a step. @defaultValue 60000 */
  @Advanced() @IsOptional() @IsWholeNumberFrom(1, 86_400_000, TIMEOUT) readonly resetTimeoutMs?: number;
  /** Time limit of a single step: the episode that misses it keeps the steps before, and a late answer is discarded. @defaultValue 60000 */
  @Advanced() @IsOptional() @IsWholeNumberFrom(1, 86_400_000, TIMEOUT) readonly stepTimeoutMs?: number;
  /** Number of episodes in a row, in one collector, whose environment fails before the collector gives up. @defaultValue 64 */
  @Advanced()
  @IsOptional()
  @IsWholeNumberFrom(1, 1_000_000, { unit: 'episodes', why: 'a run in which all fail has to end' })
  readonly maxFailuresInARow?: number;
  /** Server that samples the policy's turns; null samples in the collector. @defaultValue null */
  @IsNullable() @ValidateNested() @Type(() => EndpointRecipe) readonly endpoint?: EndpointRecipe | null;
  /** Success of a truncated episode whose environment does not tell it: a `failure`, or `unknown`. @defaultValue "failure" */
  @Advanced() @IsOptional() @IsIn(['failure', 'unknown']) readonly truncatedSuccess?: 'failure' | 'unknown';
}
