import { readFile } from 'node:fs/promises';
import { PolicyError } from '../policy-error.js';
import { ConfigJson } from './config-json.js';

/**
 * Parses a JSON file; null when it does not exist.
 *
 * @throws PolicyError `INVALID_FILE` when it is not JSON
 */
export async function readOptionalJson(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PolicyError('INVALID_FILE', `${path} is not JSON: ${(cause as Error).message}`, { cause });
  }
}

/** @throws PolicyError `FILE_MISSING` when the file does not exist, `INVALID_FILE` when it is not a JSON object */
export async function readJsonObject(path: string): Promise<ConfigJson> {
  const json = await readOptionalJson(path);
  if (json === null) throw new PolicyError('FILE_MISSING', `${path} does not exist`);
  return new ConfigJson(path, json);
}
