// Written by scripts/client-schemas.mjs.
/** The tokens that this step appended to the context: the new part of the prompt, then the sampled tokens */
export interface StepTokens {
  /** Token ids */
  readonly ids: readonly number[];
  /** 1 where the agent sampled the token; no 0 follows a 1 */
  readonly mask: readonly (0 | 1)[];
  /** Natural logprobs of the sampled tokens; null where unknown and where mask is 0 */
  readonly logprobs?: readonly (number | null)[];
  /** Logprobs before temperature and other sampling transforms, where known beside `logprobs` */
  readonly rawLogprobs?: readonly (number | null)[];
  /** Entropies (nats) of the distributions that were sampled from */
  readonly entropies?: readonly (number | null)[];
  /** Policy version that sampled each token; −1 = no policy of this run */
  readonly versions?: readonly number[];
  /** Experts that a mixture-of-experts model sent each token to, token by token, as many for each (layers × top-k) */
  readonly routedExperts?: readonly number[];
  /** Tokens of the context so far that this prompt kept; null or left out = all */
  readonly keptPrefix?: number;
}
