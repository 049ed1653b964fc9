import { createHash } from 'node:crypto';

export interface DecodeOptions {
  /** Omit special tokens from the text (default false). */
  readonly skipSpecialTokens?: boolean;
}

/** Text ⇄ token ids, with a file format that other tools read (Hugging Face `tokenizer.json`). */
export interface Tokenizer {
  /** Ids are 0 … vocabSize − 1. */
  readonly vocabSize: number;
  /** SHA-256 (hex) of the tokenizer file: equal hashes encode and decode alike. */
  readonly hash: string;
  readonly padTokenId: number;
  /** Ends an action that may have several tokens. */
  readonly endOfTurnTokenId: number;
  /** Spellings that `encode` reads as one token anywhere in a text; `encodePlain` does not. */
  readonly markers: readonly string[];
  /** Those of `markers` that are special tokens, which no text of a model contains. */
  readonly specialMarkers: ReadonlySet<string>;
  /**
   * Ids of a text; special tokens written out in it are recognised, so texts from outside go through `encodePlain`.
   * Nothing is added at its ends.
   *
   * @throws PolicyError `INVALID_TOKEN` when the text can't be expressed
   */
  encode(text: string): Int32Array;
  /** @throws PolicyError `INVALID_TOKEN` at an id outside the vocabulary */
  decode(tokenIds: ArrayLike<number>, options?: DecodeOptions): string;
  /** The content of `tokenizer.json`; `loadTokenizer` reads it back. */
  toJSON(): TokenizerJson;
}

/** The parts of `tokenizer.json` that this library reads. */
export interface TokenizerJson {
  readonly added_tokens: readonly AddedTokenJson[];
  readonly model: TokenizerModelJson;
  readonly [field: string]: unknown;
}

export interface TokenizerModelJson {
  readonly type: string;
  readonly vocab: Readonly<Record<string, number>>;
  readonly [field: string]: unknown;
}

export interface AddedTokenJson {
  readonly id: number;
  readonly content: string;
  readonly special: boolean;
}

/** The special tokens of the tokenizers built here. */
export const PAD_TOKEN = '<pad>';
export const END_OF_TURN_TOKEN = '<end>';

export function hashTokenizer(json: TokenizerJson): string {
  return createHash('sha256').update(JSON.stringify(json)).digest('hex');
}

export function specialToken(id: number, content: string): AddedTokenJson {
  const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false };
  return { id, content, ...flags, special: true };
}

/**
 * Lists the spellings of a file's added tokens, except single characters, which can't be told from text, and white space,
 * which some models have as tokens for indentation.
 */
export function readMarkers({
  added_tokens: addedTokens,
}: Pick<TokenizerJson, 'added_tokens'>): readonly string[] {
  return addedTokens
    .map(({ content }) => content)
    .filter((content) => content.length > 1 && content.trim() !== '');
}

export function readSpecialMarkers({ added_tokens: addedTokens }: TokenizerJson): ReadonlySet<string> {
  return new Set(readMarkers({ added_tokens: addedTokens.filter(({ special }) => special) }));
}
