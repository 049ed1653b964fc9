import { PolicyError } from '../policy-error.js';
import { byteLevelTokenizer, isByteTokenizerJson } from './byte-tokenizer.js';
import { HuggingFaceTokenizer } from './hugging-face-tokenizer.js';
import type { HuggingFaceTokenizerOptions } from './hugging-face-tokenizer.js';
import { END_OF_TURN_TOKEN, PAD_TOKEN } from './tokenizer.js';
import type { Tokenizer, TokenizerJson } from './tokenizer.js';
import { isWordTokenizerJson, WordTokenizer } from './word-tokenizer.js';

/**
 * Makes a tokenizer from the parsed content of a `tokenizer.json`.
 *
 * @param specialTokens those that the model's `tokenizer_config.json` names; default: those of `createTokenizer`
 * @throws PolicyError `INVALID_FILE` when the content is not a tokenizer, lacks a special token, or has more ids than the model
 */
export function loadTokenizer(
  json: unknown,
  specialTokens: HuggingFaceTokenizerOptions = { padToken: PAD_TOKEN, endOfTurnToken: END_OF_TURN_TOKEN },
): Tokenizer {
  requireTokenizerJson(json);
  const isOwnFile =
    specialTokens.numModelIds === undefined &&
    specialTokens.padToken === PAD_TOKEN &&
    specialTokens.endOfTurnToken === END_OF_TURN_TOKEN;
  if (isOwnFile && isWordTokenizerJson(json)) return new WordTokenizer(json);
  if (isOwnFile && isByteTokenizerJson(json)) return byteLevelTokenizer();
  return new HuggingFaceTokenizer(json, specialTokens);
}

function requireTokenizerJson(json: unknown): asserts json is TokenizerJson {
  const { model, added_tokens: addedTokens } = (json ?? {}) as Partial<TokenizerJson>;
  if (typeof model?.type !== 'string' || typeof model.vocab !== 'object' || !Array.isArray(addedTokens)) {
    throw new PolicyError('INVALID_FILE', 'the tokenizer file lacks model.type, model.vocab or added_tokens');
  }
}
