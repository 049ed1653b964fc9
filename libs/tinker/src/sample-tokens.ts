import { requireList, type TinkerAnswer } from './answer.js';
import type { TinkerClient } from './tinker-client.js';
import { TinkerError } from './tinker-error.js';

/** Begins the paths of what was saved in a server. */
const SAVED = 'tinker://';

/** A turn that a policy is asked for. */
export interface SampleRequest {
  /** The policy, as `TrainingModel.saveForSampler` names it, or the name of a base model. */
  readonly path: string;
  readonly tokenIds: ArrayLike<number>;
  readonly maxTokens: number;
  readonly temperature: number;
  /** Tokens of the support; −1 is all. */
  readonly topK: number;
  readonly topP: number;
  readonly seed: number;
  /** Tokens, or texts, that end the turn; tokens are part of it. */
  readonly stop: readonly number[] | readonly string[];
  /** Whether the logprobs of the context are wanted too. */
  readonly promptLogprobs?: boolean;
}

export interface SampledTurn {
  readonly tokenIds: Int32Array;
  /** Of the model's own distribution, at temperature 1 and over all tokens, whatever was asked for; nats. */
  readonly logprobs: Float32Array;
  readonly stopReason: 'stop' | 'length';
  /** [numContextTokens] the first is NaN, as nothing is before it; null where they were not asked for. */
  readonly promptLogprobs: Float32Array | null;
}

/** Samples one turn. @throws TinkerError; the signal's reason once it aborts */
export async function sampleTokens(
  client: TinkerClient,
  request: SampleRequest,
  signal?: AbortSignal,
): Promise<SampledTurn> {
  const { path, tokenIds, maxTokens, temperature, topK, topP, seed, stop, promptLogprobs = false } = request;
  const body = {
    num_samples: 1,
    prompt: { chunks: [{ type: 'encoded_text', tokens: Array.from(tokenIds) }] },
    sampling_params: { max_tokens: maxTokens, temperature, top_k: topK, top_p: topP, seed, stop },
    ...(path.startsWith(SAVED) ? { model_path: path } : { base_model: path }),
    prompt_logprobs: promptLogprobs,
    type: 'sample',
  };
  const answer = await client.run('asample', body, { signal });
  const [sequence] = requireList(answer, 'sequences') as readonly (TinkerAnswer | undefined)[];
  if (sequence === undefined) throw new TinkerError('MALFORMED_ANSWER', 'sequences is empty');
  const tokens = requireNumbers(sequence, 'tokens');
  const logprobs = requireNumbers(sequence, 'logprobs');
  if (logprobs.length !== tokens.length) {
    const counts = `${logprobs.length} for ${tokens.length} tokens`;
    throw new TinkerError(
      'MALFORMED_ANSWER',
      `sequences[0].logprobs must have one for each token, has ${counts}`,
    );
  }
  return {
    tokenIds: Int32Array.from(tokens),
    logprobs: Float32Array.from(logprobs, (logprob) => Math.min(0, logprob)),
    stopReason: sequence.stop_reason === 'stop' ? 'stop' : 'length',
    promptLogprobs: promptLogprobs ? contextLogprobs(answer, tokenIds.length) : null,
  };
}

/** Some servers give the first token null, some leave it out. */
function contextLogprobs(answer: TinkerAnswer, length: number): Float32Array {
  const values = requireList(answer, 'prompt_logprobs');
  const missing = length - values.length;
  if (missing !== 0 && missing !== 1) {
    const message = `prompt_logprobs must have ${length} entries or one fewer, has ${values.length}`;
    throw new TinkerError('MALFORMED_ANSWER', message);
  }
  const logprobs = new Float32Array(length).fill(Number.NaN);
  values.forEach((value, n) => {
    if (typeof value === 'number') logprobs[n + missing] = Math.min(0, value);
  });
  return logprobs;
}

function requireNumbers(answer: TinkerAnswer, field: string): readonly number[] {
  const values = requireList(answer, field);
  if (values.every((value): value is number => typeof value === 'number')) return values;
  throw new TinkerError('MALFORMED_ANSWER', `sequences[0].${field} must be numbers`);
}
