/** Sampled tokens, in the order in which they were sampled; all columns are of the same length. Log-probabilities are in nats. */
export interface WrittenTokens {
  readonly tokenIds: Int32Array;
  /** After temperature and cuts. */
  readonly logprobs: Float32Array;
  /** Before them. */
  readonly rawLogprobs: Float32Array;
  /** The likeliest tokens at each place, likeliest first; null: not asked for. */
  readonly likeliest: readonly (readonly { readonly tokenId: number; readonly logprob: number }[])[] | null;
}

/** Texts of tokens. */
interface TokenTexts {
  decode(tokenIds: readonly number[], options?: { readonly skipSpecialTokens?: boolean }): string;
}

/** Distribution of the logprobs in answers, by vLLM's names: before temperature and cuts, or after them. */
export type LogprobsMode = 'raw_logprobs' | 'processed_logprobs';

interface LogprobsOptions {
  readonly tokenizer: TokenTexts;
  /** Which of the two is written. */
  readonly mode: LogprobsMode;
  /** Whether tokens are named `token_id:7` instead of by their texts. */
  readonly namesTokensById: boolean;
}

/** Writes the logprobs of tokens in the two forms of OpenAI's API. */
export class LogprobsWriter {
  constructor(private readonly options: LogprobsOptions) {}

  chat(columns: WrittenTokens): object {
    const logprobs = this.logprobsOf(columns);
    const entry = (tokenId: number, logprob: number) => ({
      token: this.nameOf(tokenId),
      logprob,
      bytes: [...Buffer.from(this.options.tokenizer.decode([tokenId]))],
    });
    const content = Array.from(columns.tokenIds, (tokenId, n) => ({
      ...entry(tokenId, logprobs[n]),
      top_logprobs: (columns.likeliest?.[n] ?? []).map((likely) => entry(likely.tokenId, likely.logprob)),
    }));
    return { content, refusal: null };
  }

  /** @param textOffset characters of the answer before these tokens */
  completions(columns: WrittenTokens, textOffset: number): object {
    const logprobs = this.logprobsOf(columns);
    const tokens = Array.from(columns.tokenIds, (tokenId) => this.nameOf(tokenId));
    let offset = textOffset;
    return {
      tokens,
      token_logprobs: [...logprobs],
      top_logprobs: tokens.map((token, n) => ({
        ...Object.fromEntries(
          (columns.likeliest?.[n] ?? []).map((likely) => [this.nameOf(likely.tokenId), likely.logprob]),
        ),
        [token]: logprobs[n],
      })),
      text_offset: Array.from(columns.tokenIds, (tokenId) => {
        const start = offset;
        offset += this.options.tokenizer.decode([tokenId], { skipSpecialTokens: true }).length;
        return start;
      }),
    };
  }

  private logprobsOf({ rawLogprobs, logprobs }: WrittenTokens): Float32Array {
    return this.options.mode === 'raw_logprobs' ? rawLogprobs : logprobs;
  }

  private nameOf(tokenId: number): string {
    return this.options.namesTokensById ? `token_id:${tokenId}` : this.options.tokenizer.decode([tokenId]);
  }
}
