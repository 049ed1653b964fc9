import { Tokenizer as HuggingFaceTokenizerModel } from '@huggingface/tokenizers';
import { PolicyError } from '../policy-error.js';
import { hashTokenizer } from './tokenizer.js';
import type { DecodeOptions, Tokenizer, TokenizerJson } from './tokenizer.js';

export interface SpecialTokens {
  readonly padToken: string;
  readonly endOfTurnToken: string;
}

/** Any `tokenizer.json`, through `@huggingface/tokenizers` (BPE, WordPiece, Unigram …). */
export class HuggingFaceTokenizer implements Tokenizer {
  readonly vocabSize: number;
  readonly hash: string;
  readonly padTokenId: number;
  readonly endOfTurnTokenId: number;
  private readonly model: HuggingFaceTokenizerModel;

  constructor(
    private readonly json: TokenizerJson,
    specialTokens: SpecialTokens,
  ) {
    try {
      this.model = new HuggingFaceTokenizerModel(json, { clean_up_tokenization_spaces: false });
    } catch (cause) {
      throw new PolicyError('INVALID_FILE', `the tokenizer file can't be used: ${(cause as Error).message}`, {
        cause,
      });
    }
    const { vocab } = json.model;
    // Unigram models list their pieces in the order of their ids.
    const ids = Array.isArray(vocab) ? vocab.keys() : Object.values(vocab);
    this.vocabSize =
      [...ids, ...json.added_tokens.map(({ id }) => id)].reduce((max, id) => Math.max(max, id), -1) + 1;
    this.hash = hashTokenizer(json);
    this.padTokenId = this.idOf(specialTokens.padToken);
    this.endOfTurnTokenId = this.idOf(specialTokens.endOfTurnToken);
  }

  encode(text: string): Int32Array {
    return Int32Array.from(this.model.encode(text, { add_special_tokens: false }).ids);
  }

  decode(tokenIds: ArrayLike<number>, { skipSpecialTokens = false }: DecodeOptions = {}): string {
    const ids = Array.from(tokenIds);
    const unknown = ids.find((id) => !Number.isInteger(id) || id < 0 || id >= this.vocabSize);
    if (unknown !== undefined) {
      throw new PolicyError('INVALID_TOKEN', `token id is ${unknown}; ids are 0 … ${this.vocabSize - 1}`);
    }
    if (ids.length === 0) return '';
    return this.model.decode(ids, {
      skip_special_tokens: skipSpecialTokens,
      clean_up_tokenization_spaces: false,
    });
  }

  toJSON(): TokenizerJson {
    return this.json;
  }

  private idOf(token: string): number {
    const id = this.model.token_to_id(token);
    if (id === undefined) {
      throw new PolicyError('INVALID_FILE', `the tokenizer file has no token ${JSON.stringify(token)}`);
    }
    return id;
  }
}
