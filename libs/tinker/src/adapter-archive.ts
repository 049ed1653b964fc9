import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { TinkerClient } from './tinker-client.js';
import { TinkerError } from './tinker-error.js';

/** An adapter in peft's format, in a directory. */
export interface DownloadedAdapter {
  /** The file with its weights. */
  readonly weights: string;
  readonly rank: number;
  /** B·A counts alpha/rank times. */
  readonly alpha: number;
}

const WEIGHTS_FILE = 'adapter_model.safetensors';
const CONFIG_FILE = 'adapter_config.json';
const DOWNLOAD_TIMEOUT_MS = 10 * 60_000;

/** Path of a saved policy, as the API names it: `tinker://<model>/<name>`, or with `sampler_weights/` between. */
const SAMPLER_PATH = /^tinker:\/\/([^/]+)\/(?:sampler_weights\/)?([^/]+)$/;

/**
 * Downloads the weights of a policy that was saved for samplers into a directory.
 *
 * @throws TinkerError
 */
export async function downloadAdapter(
  client: TinkerClient,
  path: string,
  directory: string,
): Promise<DownloadedAdapter> {
  const [modelId, name] = partsOf(path);
  const url = `${client.url}/api/v1/training_runs/${modelId}/checkpoints/${name}/archive`;
  try {
    const signal = AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS);
    const response = await fetch(url, { headers: client.authorization, signal });
    if (!response.ok || response.body === null)
      throw new Error(`HTTP ${response.status}: ${(await response.text()).slice(0, 200)}`);
    // Only who trains on such a server unpacks archives.
    const { extract } = await import('tar');
    const unpacked = extract({
      cwd: directory,
      filter: (entry) => /(^|\/)adapter_[a-z_]+\.[a-z]+$/.test(entry),
    });
    await pipeline(Readable.fromWeb(response.body as ReadableStream), unpacked);
    const { r, lora_alpha: alpha } = JSON.parse(await readFile(join(directory, CONFIG_FILE), 'utf8')) as {
      readonly r: number;
      readonly lora_alpha: number;
    };
    return { weights: join(directory, WEIGHTS_FILE), rank: r, alpha };
  } catch (cause) {
    const message = `the archive of ${path} can't be had: ${(cause as Error).message}`;
    throw new TinkerError('NO_ANSWER', message, { cause });
  }
}

/** Has the server forget a policy that was saved for samplers, where it can: SkyRL 0.3.0 forgets none. */
export async function deleteSampler(client: TinkerClient, path: string): Promise<void> {
  const [modelId, name] = partsOf(path);
  const call = `training_runs/${modelId}/checkpoints/sampler_weights/${name}`;
  await client.call(call, undefined, { method: 'DELETE' }).catch((error: unknown) => {
    if (!(error instanceof TinkerError)) throw error;
  });
}

function partsOf(path: string): readonly [string, string] {
  const [, modelId, name] = SAMPLER_PATH.exec(path) ?? [];
  if (modelId !== undefined && name !== undefined) return [modelId, name];
  throw new TinkerError('MALFORMED_ANSWER', `path is "${path}", must be tinker://<model>/<name>`);
}
