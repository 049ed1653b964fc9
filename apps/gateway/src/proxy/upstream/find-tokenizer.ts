import { hasTokens, modelServer, asObjects, asText, type ModelServerKind } from '@retrace/chat';
import type { LocalTokenizer, OpenTokenizer } from '../proxy-config.js';
import { ask, type Told } from './question.js';
import type { Upstream } from './upstream.js';

/** A server whose tokenizer is looked for. */
export interface TokenizedServer {
  readonly kind: ModelServerKind;
  /** Hash that the server told; only `retrace serve` does. */
  readonly told: string | null;
  /** The answer of the route that tells the kind, which has directories where the table of kinds says so. */
  readonly modelInfo: Told | null;
  /** The kind was given, so the server is not asked for what it is. */
  readonly isGiven: boolean;
}

/** Finds the hash of a server's tokenizer. null: it can't be known; undefined: the server gave no answer, so it is asked again later. */
export type FindTokenizer = (server: TokenizedServer) => Promise<string | null | undefined>;

/** The tokenizer that the user named. */
export interface GivenTokenizer {
  readonly path: string;
  readonly tokenizer: LocalTokenizer;
}

interface FinderOptions {
  readonly upstream: Upstream;
  /** Key for the upstream; null: none. */
  readonly key: string | null;
  readonly given: GivenTokenizer | null;
  readonly open: OpenTokenizer;
  readonly warn: (message: string) => void;
}

/** Digits, scripts, white space and brackets: what tokenizers differ in. */
const TEST_TEXT = 'Retrace 0123456789: naïve café, 東京 🙂 Привет\n\t  if (x == y) { return "z"; }';

const WITHOUT =
  'steps are recorded without their tokenizer, so no policy can be trained on them (--tokenizer names the directory of the model)';

/**
 * Finds a tokenizer by what is known of it, and holds it against the server's own (`POST /tokenize` of vLLM and SGLang): the directory that the user named, or else the one that the
 * server has its model from, where it is on this machine.
 */
export function createTokenizerFinder(options: FinderOptions): FindTokenizer {
  const { upstream, key, given, open, warn } = options;
  return async ({ kind, told, modelInfo, isGiven }) => {
    if (told !== null) return toldTokenizer(told, options);
    if (given === null && (isGiven || !hasTokens(kind))) return null;
    const models = hasTokens(kind) ? await ask(upstream, { path: '/v1/models', key }) : {};
    if (models === null) return undefined;
    const [model = {}] = asObjects(models.data);
    const path = given?.path ?? findDirectory(kind, modelInfo, model);
    const tokenizer = given?.tokenizer ?? (path === null ? null : await open(path).catch(() => null));
    if (tokenizer === null) {
      warn(`The tokenizer of the model server is not known: ${WITHOUT}`);
      return null;
    }
    const asked = { model: asText(model.id) ?? '', prompt: TEST_TEXT, add_special_tokens: false };
    const answer = await ask(upstream, { path: '/tokenize', body: asked, key });
    if (answer === null) return undefined;
    // The route may be closed: the user's word counts then, and the name of a directory does not.
    if (Array.isArray(answer.tokens) ? isEqual(answer.tokens, tokenizer.encode(TEST_TEXT)) : given !== null)
      return tokenizer.hash;
    warn(`${path}: this is not known to be the tokenizer of the model server: ${WITHOUT}`);
    return null;
  };
}

function toldTokenizer(told: string, { given, warn }: FinderOptions): string {
  if (given !== null && given.tokenizer.hash !== told)
    warn(`--tokenizer ${given.path}: the model server has another one, ${told}, which steps name`);
  return told;
}

/** The directory that the kind tells (SGLang), or else that of the model in the list of models. */
function findDirectory(kind: ModelServerKind, modelInfo: Told | null, model: Told): string | null {
  const names = modelServer(kind).sign?.directories ?? [];
  const told = names.map((name) => asText(modelInfo?.[name])).find((path) => path !== null);
  return told ?? asText(model.root);
}

function isEqual(told: readonly unknown[], own: readonly number[]): boolean {
  return told.length === own.length && told.every((id, i) => id === own[i]);
}
