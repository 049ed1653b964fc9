import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const SPECIAL = ['<|pad|>', '<|endofturn|>'];

/** A word-level tokenizer file in Hugging Face's format, and what it encodes. */
export class WordVocabulary {
  readonly hash: string;
  private readonly ids: ReadonlyMap<string, number>;
  private readonly json: string;

  constructor(words: readonly string[]) {
    this.ids = new Map([...SPECIAL, ...words].map((word, id) => [word, id]));
    this.json = JSON.stringify({
      added_tokens: SPECIAL.map((content, id) => ({ id, content, special: true })),
      decoder: null,
      model: { type: 'WordLevel', vocab: Object.fromEntries(this.ids) },
    });
    this.hash = createHash('sha256').update(this.json).digest('hex');
  }

  encode(text: string): number[] {
    return text.split(' ').map((word) => this.ids.get(word) ?? 0);
  }

  async save(directory: string): Promise<void> {
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, `${this.hash}.json`), this.json);
  }
}
