import { Tokenizer as HuggingFaceTokenizerModel } from '@huggingface/tokenizers';
import { PolicyError } from '../policy-error.js';
import { hashTokenizer, readMarkers, readSpecialMarkers } from './tokenizer.js';
import type { DecodeOptions, Tokenizer, TokenizerJson } from './tokenizer.js';

export interface SpecialTokens {
  readonly padToken: string;
  readonly endOfTurnToken: string;
}

export interface HuggingFaceTokenizerOptions extends SpecialTokens {
  /**
   * Number of the model's ids, which may exceed the tokenizer's. A policy can sample the additional ids; they have no
   * text.
   */
  readonly numModelIds?: number;
  /** The file's name in messages. */
  readonly file?: string;
}

/** Any `tokenizer.json`, through `@huggingface/tokenizers` (BPE, WordPiece, Unigram …). */
export class HuggingFaceTokenizer implements Tokenizer {
  readonly vocabSize: number;
  readonly hash: string;
  readonly padTokenId: number;
  readonly endOfTurnTokenId: number;
  readonly markers: readonly string[];
  readonly specialMarkers: ReadonlySet<string>;
  /** Number of ids that have a token. */
  private readonly numTokens: number;
  private readonly model: HuggingFaceTokenizerModel;

  constructor(
    private readonly json: TokenizerJson,
    { numModelIds, file = 'the tokenizer file', ...specialTokens }: HuggingFaceTokenizerOptions,
  ) {
    try {
      this.model = new HuggingFaceTokenizerModel(json, { clean_up_tokenization_spaces: false });
    } catch (cause) {
      throw new PolicyError('INVALID_FILE', `${file} can't be used: ${(cause as Error).message}`, {
        cause,
      });
    }
    const { vocab } = json.model;
    // Unigram models list their pieces in the order of their ids.
    const ids = Array.isArray(vocab) ? vocab.keys() : Object.values(vocab);
    this.numTokens =
      [...ids, ...json.added_tokens.map(({ id }) => id)].reduce((max, id) => Math.max(max, id), -1) + 1;
    this.vocabSize = numModelIds ?? this.numTokens;
    if (this.vocabSize < this.numTokens) {
      throw new PolicyError(
        'INVALID_FILE',
        `${file} has ids up to ${this.numTokens - 1}; the vocab_size of the model is ${this.vocabSize}`,
      );
    }
    this.hash = hashTokenizer(json);
    this.markers = readMarkers(json);
    this.specialMarkers = readSpecialMarkers(json);
    this.padTokenId = this.idOf(specialTokens.padToken, file);
    this.endOfTurnTokenId = this.idOf(specialTokens.endOfTurnToken, file);
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
    const known = ids.filter((id) => id < this.numTokens);
    if (known.length === 0) return '';
    return this.model.decode(known, {
      skip_special_tokens: skipSpecialTokens,
      clean_up_tokenization_spaces: false,
    });
  }

  toJSON(): TokenizerJson {
    return this.json;
  }

  private idOf(token: string, file: string): number {
    const id = this.model.token_to_id(token);
    if (id === undefined) {
      throw new PolicyError('INVALID_FILE', `${file} has no token ${JSON.stringify(token)}`);
    }
    return id;
  }
}
