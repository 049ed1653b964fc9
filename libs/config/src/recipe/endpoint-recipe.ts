import { WEIGHT_SERVER_KINDS, type WeightServerKind } from '@retrace/chat';
import { IsIn, IsOptional } from '@retrace/validation';
import { Advanced, IsLine, IsList, IsNullable, IsNumberFrom, IsWholeNumberFrom } from './field-rules.js';
import { HasPlaceholders, OnlyWhere, OnlyWith } from './sibling-rules.js';

/** Default of `maxLogprobDifference`, nats: what float32 in another order of sums shows at most, and a fiftieth of what bfloat16 needs. */
export const MAX_LOGPROB_DIFFERENCE = 2e-3;

const MAX_SERVERS = 64;

/** Servers that sample the policy's turns in place of the collector, and get each new policy version from it. */
export class EndpointRecipe {
  /** Kind of the servers. `vllm` gets the adapters of `policy.lora`, or without them all weights, `sglang` all weights. `tinker` is the server of the run's engine "tinker", which has the weights. */
  @IsIn([...WEIGHT_SERVER_KINDS, 'tinker']) readonly kind!: WeightServerKind | 'tinker';
  /** Addresses of servers that run, without a path, such as `http://127.0.0.1:8000`; episodes are divided among them. */
  @OnlyWhere('kind', WEIGHT_SERVER_KINDS)
  @IsOptional()
  @IsList(1, MAX_SERVERS)
  @IsLine({ maxLength: 2000, each: true })
  readonly urls?: readonly string[];
  /** Address of the only server that runs: the same as `urls` with one address, as recipes had it before there were several. */
  @OnlyWhere('kind', WEIGHT_SERVER_KINDS)
  @Advanced()
  @IsOptional()
  @IsLine({ maxLength: 2000 })
  readonly url?: string;
  /**
   * Program and arguments that start a server, in place of `urls`. `{port}` is replaced by its port, `{model}` by the directory of the weights,
   * and `{name}` by the name under which it must serve them. It is started again for each policy version, which gets all weights so.
   */
  @HasPlaceholders(['{port}', '{model}', '{name}'])
  @OnlyWhere('kind', WEIGHT_SERVER_KINDS)
  @IsOptional()
  @IsList(1, 200)
  @IsLine({ maxLength: 4096, each: true })
  readonly command?: readonly string[];
  /** Number of servers that each collector starts with `command`, each on a free port. @defaultValue 1 */
  @OnlyWith('command', 'it starts the servers')
  @OnlyWhere('kind', WEIGHT_SERVER_KINDS)
  @Advanced()
  @IsOptional()
  @IsWholeNumberFrom(1, MAX_SERVERS, { unit: 'processes', why: 'they run on one machine' })
  readonly numServers?: number;
  /** Longest time until a server that `command` started answers. @defaultValue 600000 */
  @OnlyWhere('kind', WEIGHT_SERVER_KINDS)
  @Advanced()
  @IsOptional()
  @IsWholeNumberFrom(1, 86_400_000, { unit: 'milliseconds', why: 'the most is a day' })
  readonly startTimeoutMs?: number;
  /** Directory that collector and servers all see, for the weights of new versions; relative to the working directory of the run. Without it, they lie beside the checkpoints. */
  @OnlyWhere('kind', WEIGHT_SERVER_KINDS)
  @Advanced()
  @IsOptional()
  @IsLine({ maxLength: 4096 })
  readonly directory?: string;
  /** Name of the environment variable of the collector that holds the servers' API key; without it, none is sent. */
  @OnlyWhere('kind', WEIGHT_SERVER_KINDS)
  @IsOptional()
  @IsLine({ maxLength: 200 })
  readonly apiKeyVariable?: string;
  /** Time limit of one request. @defaultValue 120000 */
  @OnlyWhere('kind', WEIGHT_SERVER_KINDS)
  @Advanced()
  @IsOptional()
  @IsWholeNumberFrom(1, 300_000, { unit: 'milliseconds', why: 'the HTTP client waits no longer' })
  readonly timeoutMs?: number;
  /** Number of times that a request is made again after a temporary failure. @defaultValue 3 */
  @OnlyWhere('kind', WEIGHT_SERVER_KINDS)
  @Advanced()
  @IsOptional()
  @IsWholeNumberFrom(0, 100, { unit: 'attempts', why: 'an episode waits for all of them' })
  readonly maxRetries?: number;
  /** Time limit of one turn, with all its requests, pauses, and waits for a server that is down or refuses for its rate limit. @defaultValue 600000 */
  @Advanced()
  @IsOptional()
  @IsWholeNumberFrom(1, 86_400_000, { unit: 'milliseconds', why: 'the most is a day' })
  readonly deadlineMs?: number;
  /** Most requests a minute to one server; without it, any number. */
  @OnlyWhere('kind', WEIGHT_SERVER_KINDS)
  @Advanced()
  @IsOptional()
  @IsWholeNumberFrom(1, 1_000_000, { unit: 'requests', why: 'a collector makes fewer' })
  readonly requestsPerMinute?: number;
  /** Most tokens a minute of one server, of prompts and of the longest answers; without it, any number. */
  @OnlyWhere('kind', WEIGHT_SERVER_KINDS)
  @Advanced()
  @IsOptional()
  @IsWholeNumberFrom(1, 1_000_000_000, { unit: 'tokens', why: 'a collector makes fewer' })
  readonly tokensPerMinute?: number;
  /**
   * Largest difference, in nats, between each server's logprobs of a fixed context and the policy's own, which is checked after each delivery
   * of weights; a larger one ends the run. A server that computes in bfloat16 needs some 0.1. Null checks nothing. @defaultValue 0.002
   */
  @IsNullable()
  @IsNumberFrom(1e-6, 100, { why: 'a smaller one is below what float32 tells' })
  readonly maxLogprobDifference?: number | null;
}

/** Addresses of the servers that a recipe names; empty where it starts them. */
export function endpointUrls({ urls, url }: Pick<EndpointRecipe, 'urls' | 'url'>): readonly string[] {
  return urls ?? (url === undefined ? [] : [url]);
}
