import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tokenizer } from '@retrace/policy';

/** Keeps the run's tokenizer as `<directory>/<hash>.json` (Hugging Face format), for readers that show tokens as text. */
export async function saveTokenizer(directory: string, tokenizer: Tokenizer): Promise<void> {
  const path = join(directory, `${tokenizer.hash}.json`);
  if (existsSync(path)) return;
  await mkdir(directory, { recursive: true });
  const temporary = `${path}.${process.pid}`;
  await writeFile(temporary, JSON.stringify(tokenizer.toJSON()));
  await rename(temporary, path);
}
