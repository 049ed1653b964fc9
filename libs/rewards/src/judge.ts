/** Question to a judge about one episode. The answer is a JSON object `{ score, rationale }`. */
export interface JudgeRequest {
  readonly model: string;
  readonly system: string;
  readonly user: string;
  /** The score must be in [minScore, maxScore]. */
  readonly minScore: number;
  readonly maxScore: number;
  readonly temperature: number;
  readonly maxTokens: number;
  readonly seed: number;
  readonly service: JudgeService;
}

/** Address of a judge and limits of asking it, which do not change the question. */
export interface JudgeService {
  /** Base address of an OpenAI-compatible API, up to and with `/v1`. */
  readonly endpoint: string;
  /** Environment variable that holds the key; `''` for none. */
  readonly apiKeyVariable: string;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly concurrency: number;
  /** Price of a million tokens, in any currency. */
  readonly promptPrice: number;
  readonly completionPrice: number;
}

/** A verdict, or why there is none. A judge that is down, refuses or answers in another form leaves the reward missing. */
export type JudgeAnswer =
  | { readonly kind: 'verdict'; readonly score: number; readonly rationale: string }
  | { readonly kind: 'none'; readonly reason: string };
