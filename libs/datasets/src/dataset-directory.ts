import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { parsedObject } from '@retrace/trajectory/json';
import { DatasetError } from './dataset-error.js';
import { readJsonl } from './files/jsonl-file.js';
import type { DatasetManifest } from './manifest.js';

const NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/;
const MANIFEST_FILE = 'manifest.json';

/** The directory that holds data sets, each in a directory of its own name. */
export class DatasetDirectory {
  constructor(readonly path: string) {}

  /** @throws DatasetError `OPTION_INVALID` for a name that is no plain name, `DATASET_EXISTS` for one that is in use */
  async requireFree(name: string): Promise<void> {
    const names = await this.names();
    requireName(name);
    if (names.includes(name))
      throw new DatasetError(
        'DATASET_EXISTS',
        `Data set "${name}" exists; data sets never change, so choose another name`,
      );
  }

  /** Makes a directory to write a data set into; `publish` gives it its name, and `discard` removes it. */
  async begin(): Promise<string> {
    await mkdir(this.path, { recursive: true });
    const draft = await mkdtemp(join(this.path, '.draft-'));
    await mkdir(join(draft, 'data'));
    return draft;
  }

  /** Makes the files of a draft durable under the name of its manifest, at once. */
  async publish(draft: string, manifest: DatasetManifest, card: string): Promise<string> {
    await writeDurably(join(draft, 'README.md'), card);
    await writeDurably(join(draft, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`);
    const path = join(this.path, manifest.name);
    try {
      await rename(draft, path);
    } catch (cause) {
      throw new DatasetError('DATASET_EXISTS', `Data set "${manifest.name}" was made by another process`, {
        cause,
      });
    }
    const parent = await open(this.path, 'r');
    try {
      await parent.sync();
    } finally {
      await parent.close();
    }
    return path;
  }

  async discard(draft: string): Promise<void> {
    await rm(draft, { recursive: true, force: true });
  }

  /** The absolute path of a data set. */
  pathOf(name: string): string {
    return resolve(this.path, name);
  }

  /** The manifests of all data sets, by name. */
  async list(): Promise<DatasetManifest[]> {
    return Promise.all((await this.names()).map((name) => this.read(name)));
  }

  /** The manifests of those data sets that have a row made of this episode. */
  async listWithEpisode(episodeId: string): Promise<DatasetManifest[]> {
    const manifests = await this.list();
    const isIn = await Promise.all(
      manifests.map(({ name }) =>
        hasText(join(this.path, name, 'lineage.jsonl'), `"episodeId":"${episodeId}"`),
      ),
    );
    return manifests.filter((_, m) => isIn[m]);
  }

  /** @throws DatasetError `DATASET_UNKNOWN`, `DATASET_DAMAGED` where its manifest is none */
  async read(name: string): Promise<DatasetManifest> {
    requireName(name);
    const text = await readFile(join(this.path, name, MANIFEST_FILE), 'utf8').catch((cause: unknown) => {
      throw new DatasetError('DATASET_UNKNOWN', `Data set "${name}" not found in ${this.path}`, { cause });
    });
    const manifest = parsedObject(text);
    if (Array.isArray(manifest?.splits)) return manifest as unknown as DatasetManifest;
    const found = manifest === null ? 'holds no JSON object' : 'has no list "splits"';
    throw new DatasetError(
      'DATASET_DAMAGED',
      `${join(this.path, name, MANIFEST_FILE)} ${found}; must be the manifest that "dataset create" wrote`,
    );
  }

  /** The run and episode of each member of each row, in order; an episode of several rows comes several times. */
  async *readMembers(name: string): AsyncGenerator<{ readonly runId: string; readonly episodeId: string }> {
    requireName(name);
    for await (const { members } of readJsonl(join(this.path, name, 'lineage.jsonl')))
      yield* members as unknown as readonly { readonly runId: string; readonly episodeId: string }[];
  }

  /**
   * Compares the files of a data set with its manifest.
   *
   * @throws DatasetError `DATASET_UNKNOWN`; `DATASET_DAMAGED` naming the first file that differs
   */
  async verify(name: string): Promise<DatasetManifest> {
    const manifest = await this.read(name);
    for (const { file, sha256 } of manifest.splits) {
      const found = await sha256OfFile(join(this.path, name, file)).catch(() => 'none');
      if (found !== sha256)
        throw new DatasetError(
          'DATASET_DAMAGED',
          `${file} of data set "${name}" has SHA-256 ${found}; its manifest states ${sha256}`,
        );
    }
    return manifest;
  }

  private async names(): Promise<string[]> {
    const entries = await readdir(this.path, { withFileTypes: true }).catch(() => []);
    const names = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
    return names.map(({ name }) => name).sort();
  }
}

function requireName(name: string): void {
  if (NAME.test(name)) return;
  throw new DatasetError(
    'OPTION_INVALID',
    `name is "${name}"; must be lower-case letters, digits, ".", "_" and "-", at most 100 of them`,
  );
}

async function hasText(path: string, text: string): Promise<boolean> {
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity }))
    if (line.includes(text)) return true;
  return false;
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Computes the SHA-256 of a file, in hex. */
export async function sha256OfFile(path: string): Promise<string> {
  const digest: Hash = createHash('sha256');
  await pipeline(createReadStream(path), digest);
  return digest.digest('hex');
}
