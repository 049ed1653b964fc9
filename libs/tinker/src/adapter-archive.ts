import { access, readFile } from 'node:fs/promises';
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
const WANTED = [CONFIG_FILE, WEIGHTS_FILE];
const DOWNLOAD_TIMEOUT_MS = 10 * 60_000;
const DELETE_MS = 5_000;

/** Path of a checkpoint: `tinker://<model>/weights/<name>` of a state, `tinker://<model>/<name>`, or with `sampler_weights/` between, of a policy. */
const CHECKPOINT_PATH = /^tinker:\/\/([^/]+)\/(?:(weights|sampler_weights)\/)?([^/]+)$/;

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
  const { modelId, name } = listParts(path);
  const url = new URL(`${client.url}/api/v1/training_runs/${modelId}/checkpoints/${name}/archive`);
  // Only who trains on such a server unpacks archives.
  const { extract } = await import('tar');
  const isWanted = (entry: string) => WANTED.some((file) => entry === file || entry === `./${file}`);
  try {
    const archive = await fetchArchive(url, client.authorization);
    await pipeline(Readable.fromWeb(archive), extract({ cwd: directory, filter: isWanted }));
  } catch (cause) {
    // A disk that is full is ours.
    if (cause instanceof TinkerError || (cause as NodeJS.ErrnoException).syscall === 'write') throw cause;
    const message = `the archive of ${path} can't be had: ${(cause as Error).message}`;
    throw new TinkerError('NO_ANSWER', message, { cause });
  }
  return readAdapter(directory, path);
}

async function readAdapter(directory: string, path: string): Promise<DownloadedAdapter> {
  try {
    const config: unknown = JSON.parse(await readFile(join(directory, CONFIG_FILE), 'utf8'));
    const { r: rank, lora_alpha: alpha } = config as { readonly r?: unknown; readonly lora_alpha?: unknown };
    await access(join(directory, WEIGHTS_FILE));
    if (typeof rank === 'number' && typeof alpha === 'number')
      return { weights: join(directory, WEIGHTS_FILE), rank, alpha };
    throw new Error(`${CONFIG_FILE} has no r and lora_alpha`);
  } catch (cause) {
    const message = `the archive of ${path} holds no adapter of peft's: ${(cause as Error).message}`;
    throw new TinkerError('MALFORMED_ANSWER', message, { cause });
  }
}

/** Follows a redirect by itself: the key is for the server, and not for the storage that it names. */
async function fetchArchive(url: URL, headers: Readonly<Record<string, string>>): Promise<ReadableStream> {
  const signal = AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS);
  let response = await fetch(url, { headers, signal, redirect: 'manual' });
  const location = response.headers.get('location');
  if (response.status >= 300 && response.status < 400 && location !== null) {
    const target = new URL(location, url);
    const isSame = target.origin === url.origin;
    response = await fetch(target, { signal, ...(isSame ? { headers } : {}) });
  }
  if (response.ok && response.body !== null) return response.body as ReadableStream;
  const message = `HTTP ${response.status} for an archive: ${(await response.text()).slice(0, 200)}`;
  throw new TinkerError(response.status >= 500 ? 'NO_ANSWER' : 'FAILED', message);
}

/** Has the server forget a state, or a policy that was saved for samplers, where it can: SkyRL 0.3.0 forgets none. */
export async function deleteCheckpoint(client: TinkerClient, path: string): Promise<void> {
  const { modelId, kind, name } = listParts(path);
  const call = `training_runs/${modelId}/checkpoints/${kind}/${name}`;
  const options = { method: 'DELETE', isRepeatable: false, deadlineMs: DELETE_MS } as const;
  await client.call(call, undefined, options).catch((error: unknown) => {
    if (!(error instanceof TinkerError)) throw error;
  });
}

function listParts(path: string) {
  const [, modelId, kind = 'sampler_weights', name] = CHECKPOINT_PATH.exec(path) ?? [];
  if (modelId !== undefined && name !== undefined) return { modelId, kind, name };
  throw new TinkerError('MALFORMED_ANSWER', `path is "${path}", must be tinker://<model>/<name>`);
}
