import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './cli.mjs';
import { CLIENT } from './python-client.mjs';

const run = promisify(execFile);

/**
 * Writes the tiny model of `served_model.py` into a new directory.
 *
 * @param {string} python that has torch and transformers
 * @param {'qwen2' | 'qwen3'} [architecture]
 * @returns {Promise<string>} the directory
 */
export async function writeTinyModel(python, architecture = 'qwen2') {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-tiny-model-'));
  const env = { ...process.env, PYTHONPATH: join(CLIENT, 'tests', 'heavy') };
  await run(python, [join(root, 'test', 'support', 'served_model.py'), directory, architecture], { env });
  return directory;
}
