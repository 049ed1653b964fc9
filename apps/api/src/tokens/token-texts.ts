import { Injectable, Logger } from '@nestjs/common';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiConfig } from '../config/api-config.js';
import { readVocabulary } from './vocabulary.js';

type Vocabulary = readonly (string | undefined)[];

const HASH = /^[0-9a-zA-Z]{8,128}$/;
const MAX_CACHED = 8;

/** Looks up texts of tokens in the tokenizer files that runs store in the data directory. */
@Injectable()
export class TokenTexts {
  private readonly logger = new Logger('tokens');
  private readonly vocabularies = new Map<string, Vocabulary>();

  constructor(private readonly config: ApiConfig) {}

  /**
   * The text of each token of each step; null where its tokenizer is unavailable. An id outside its vocabulary becomes `#id`. A tokenizer is looked up once
   * for all steps: one that is missing is looked for in its file.
   */
  async ofAll(
    steps: readonly { readonly tokenizerHash: string; readonly tokenIds: readonly number[] }[],
  ): Promise<(string[] | null)[]> {
    const hashes = new Set(steps.map(({ tokenizerHash }) => tokenizerHash));
    const found = await Promise.all(
      Array.from(hashes, async (hash) => [hash, await this.vocabulary(hash)] as const),
    );
    const vocabularyOf = new Map(found);
    return steps.map(({ tokenizerHash, tokenIds }) => {
      const vocabulary = vocabularyOf.get(tokenizerHash) ?? null;
      return vocabulary && tokenIds.map((id) => vocabulary[id] ?? `#${id}`);
    });
  }

  private async vocabulary(hash: string): Promise<Vocabulary | null> {
    const { tokenizerDirectory } = this.config;
    // The hash becomes part of a path, so anything else is refused.
    if (tokenizerDirectory === null || !HASH.test(hash)) return null;
    const cached = this.vocabularies.get(hash);
    if (cached) return cached;
    const loaded = await this.load(join(tokenizerDirectory, `${hash}.json`));
    if (loaded) this.remember(hash, loaded);
    return loaded;
  }

  private async load(path: string): Promise<Vocabulary | null> {
    try {
      return readVocabulary(JSON.parse(await readFile(path, 'utf8')));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.logger.warn(
          `can not read tokenizer ${path}: ${error instanceof Error ? error.message : String(error)}`,
        );
      return null;
    }
  }

  private remember(hash: string, vocabulary: Vocabulary): void {
    const [oldest] = this.vocabularies.keys();
    if (this.vocabularies.size >= MAX_CACHED) this.vocabularies.delete(oldest);
    this.vocabularies.set(hash, vocabulary);
  }
}
