import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PolicyError } from '../policy-error.js';
import { ChatTemplate } from '../tokenizers/chat-template.js';
import { createTokenizer } from '../tokenizers/create-tokenizer.js';
import { loadTokenizer } from '../tokenizers/load-tokenizer.js';
import { ChatPromptFormat, PlainPromptFormat } from '../tokenizers/prompt-format.js';
import type { PromptFormat } from '../tokenizers/prompt-format.js';
import { END_OF_TURN_TOKEN, PAD_TOKEN } from '../tokenizers/tokenizer.js';
import type { Tokenizer } from '../tokenizers/tokenizer.js';
import { ConfigJson } from './config-json.js';
import { readJsonObject, readOptionalJson } from './read-json.js';

/** How a policy reads and writes text: its tokenizer, its prompts, and the tokens that end a turn. */
export interface PolicyText {
  readonly tokenizer: Tokenizer;
  readonly prompts: PromptFormat;
  /** At least one; the first is the tokenizer's own. */
  readonly stopTokenIds: readonly number[];
  /** The files of a model directory that describe all this. */
  files(): readonly (readonly [name: string, content: string])[];
}

export interface LoadTextOptions {
  /** Write prompts with the directory's chat template, if it has one (default true). */
  readonly useChatTemplate?: boolean;
}

const TEMPLATE_FILE = 'chat_template.jinja';
/** Tokens of `tokenizer_config.json` that templates have as variables, where they are given. */
const SPECIAL_TOKENS = 'bos unk sep pad cls mask eos'.split(' ').map((name) => `${name}_token`);

/** Describes the text of a model that is trained from scratch, with a tokenizer of `createTokenizer`. */
export function plainPolicyText(tokenizer: Tokenizer): PolicyText {
  const stopTokenIds = [tokenizer.endOfTurnTokenId];
  return {
    tokenizer,
    prompts: new PlainPromptFormat(tokenizer),
    stopTokenIds,
    files: () => [
      ['tokenizer.json', JSON.stringify(tokenizer.toJSON())],
      [
        'tokenizer_config.json',
        toJson({
          tokenizer_class: 'PreTrainedTokenizerFast',
          clean_up_tokenization_spaces: false,
          eos_token: END_OF_TURN_TOKEN,
          pad_token: PAD_TOKEN,
        }),
      ],
      ['generation_config.json', toJson({ eos_token_id: stopTokenIds })],
    ],
  };
}

/**
 * Loads how a model reads and writes text from its Hugging Face directory: `tokenizer.json`, `tokenizer_config.json`, the
 * chat template (a separate file or in the tokenizer's config), the end-of-turn ids of `generation_config.json`, and the
 * number of ids from `config.json`.
 *
 * @throws PolicyError `FILE_MISSING`, and `INVALID_FILE` for a file that breaks its format or names ids that the model lacks
 */
export async function loadPolicyText(
  directory: string,
  { useChatTemplate = true }: LoadTextOptions = {},
): Promise<PolicyText> {
  const tokenizerPath = join(directory, 'tokenizer.json');
  const tokenizerJson = (await readJsonObject(tokenizerPath)).toJSON();
  const config = await readJsonObject(join(directory, 'tokenizer_config.json'));
  const generationPath = join(directory, 'generation_config.json');
  const generation = new ConfigJson(generationPath, (await readOptionalJson(generationPath)) ?? {});
  const model = await readJsonObject(join(directory, 'config.json'));
  const vocabSize = model.number('vocab_size');

  const endOfTurn =
    tokenContent(config, 'eos_token') ?? config.refuse('eos_token', 'is required', 'INVALID_FILE');
  const tokenizer = loadTokenizer(tokenizerJson, {
    endOfTurnToken: endOfTurn,
    padToken: tokenContent(config, 'pad_token') ?? endOfTurn,
    numModelIds: vocabSize,
    file: tokenizerPath,
  });
  const ends = [...endIds(generation), ...endIds(model)];
  const unknown = ends.find(({ id }) => !Number.isInteger(id) || id < 0 || id >= vocabSize);
  if (unknown) unknown.json.refuse('eos_token_id', `must be ids of 0 … ${vocabSize - 1}`, 'INVALID_FILE');
  const stopTokenIds = [...new Set([tokenizer.endOfTurnTokenId, ...ends.map(({ id }) => id)])];
  const template = useChatTemplate ? await readTemplate(directory, config) : null;
  const bos = config.optionalBoolean('add_bos_token') ? tokenContent(config, 'bos_token') : null;
  const bosTokenId = bos === null ? null : tokenizer.encode(bos)[0];
  return {
    tokenizer,
    stopTokenIds,
    prompts: template
      ? new ChatPromptFormat(tokenizer, template, stopTokenIds)
      : new PlainPromptFormat(tokenizer, bosTokenId, stopTokenIds),
    files: () => [
      ['tokenizer.json', JSON.stringify(tokenizerJson)],
      ['tokenizer_config.json', toJson(config.toJSON())],
      ['generation_config.json', toJson({ ...generation.toJSON(), eos_token_id: stopTokenIds })],
      ...(template === null ? [] : [[TEMPLATE_FILE, template.source] as const]),
    ],
  };
}

/** The text of a special token, which a file gives as a string or as the `content` of an object. */
function tokenContent(config: ConfigJson, field: string): string | null {
  const value = config.get(field);
  if (value === null || typeof value === 'string') return value;
  return config.optionalObject(field)?.optionalString('content') ?? null;
}

function endIds(json: ConfigJson): { readonly id: number; readonly json: ConfigJson }[] {
  const value = json.get('eos_token_id');
  const ids = value === null ? [] : Array.isArray(value) ? (value as unknown[]) : [value];
  return ids.map((id) => ({ id: id as number, json }));
}

async function readTemplate(directory: string, config: ConfigJson): Promise<ChatTemplate | null> {
  const path = join(directory, TEMPLATE_FILE);
  const own = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  const source = own ?? findTemplate(config);
  if (source === null) return null;
  const special = SPECIAL_TOKENS.map((name) => [name, tokenContent(config, name)] as const);
  const variables = Object.fromEntries(special.filter(([, token]) => token !== null));
  return new ChatTemplate(source, variables, own === null ? config.file : path);
}

/** `chat_template` is a template, or a list of named ones. */
function findTemplate(config: ConfigJson): string | null {
  const value = config.get('chat_template');
  if (!Array.isArray(value)) return config.optionalString('chat_template');
  const templates = value as readonly { readonly name?: unknown; readonly template?: unknown }[];
  const chosen = templates.find(({ name }) => name === 'default')?.template;
  if (typeof chosen === 'string') return chosen;
  return config.refuse('chat_template', 'must have one named default', 'INVALID_FILE');
}

function toJson(value: unknown): string {
  return JSON.stringify(value, null, 2) + '\n';
}

export interface OpenTextOptions extends LoadTextOptions {
  /** `model`: the tokenizer of the directory. */
  readonly tokenizer: 'word' | 'byte' | 'model';
  /** The vocabulary of the `word` tokenizer; null where there is no fixed one. */
  readonly words: readonly string[] | null;
  readonly directory: string | undefined;
}

/** Opens the text of a model: `loadPolicyText` of its directory, or `plainPolicyText` with the `word` or `byte` tokenizer. */
export async function openPolicyText({
  tokenizer,
  words,
  directory,
  ...options
}: OpenTextOptions): Promise<PolicyText> {
  if (tokenizer === 'word' && words === null) {
    throw new PolicyError(
      'INVALID_CONFIG',
      'tokenizer is "word", and the environment has no fixed vocabulary; use "model" with the directory of a model that has a tokenizer, or "byte"',
    );
  }
  if (tokenizer !== 'model') return plainPolicyText(createTokenizer(tokenizer, words ?? []));
  if (directory === undefined) {
    throw new PolicyError('INVALID_CONFIG', 'tokenizer is "model"; it needs the directory of the model');
  }
  return loadPolicyText(directory, options);
}
