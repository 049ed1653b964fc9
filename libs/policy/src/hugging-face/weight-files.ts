import { basename, join } from 'node:path';
import { readdir } from 'node:fs/promises';
import { SafetensorsFile } from '../checkpoints/safetensors-file.js';
import type { TensorSource } from '../checkpoints/tensor-source.js';
import { PolicyError } from '../policy-error.js';
import { ConfigJson } from './config-json.js';
import { readOptionalJson } from './read-json.js';

const SINGLE_FILE = 'model.safetensors';
const INDEX_FILE = 'model.safetensors.index.json';

/** The weights of a model directory: one safetensors file, or the shards that an index names. */
export class WeightFiles implements TensorSource {
  private constructor(
    private readonly directory: string,
    /** By tensor. */
    private readonly fileOf: ReadonlyMap<string, SafetensorsFile>,
    private readonly files: readonly SafetensorsFile[],
  ) {}

  /**
   * Opens every file and checks its header.
   *
   * @throws PolicyError `FILE_MISSING` for a directory without weights or a missing shard, `INVALID_FILE` for a file that breaks its format or an index that contradicts its shards
   */
  static async open(directory: string): Promise<WeightFiles> {
    const indexPath = join(directory, INDEX_FILE);
    const json = await readOptionalJson(indexPath);
    const weightMap = json === null ? null : new ConfigJson(indexPath, json).optionalObject('weight_map');
    if (json !== null && weightMap === null) {
      throw new PolicyError(
        'INVALID_FILE',
        `${indexPath} has no weight_map; it must name the file of each tensor`,
      );
    }
    const tensors = weightMap?.stringEntries() ?? null;
    const names = tensors === null ? [SINGLE_FILE] : [...new Set(tensors.map(([, file]) => file))].sort();
    for (const name of names) {
      if (name !== basename(name) || name.startsWith('.')) {
        throw new PolicyError(
          'INVALID_FILE',
          `${indexPath} names ${name}; shards must be in the same directory`,
        );
      }
    }
    const files = await openAll(directory, names, tensors === null ? null : indexPath);
    const fileOf = new Map<string, SafetensorsFile>();
    for (const file of files) for (const tensor of file.header.entries.keys()) fileOf.set(tensor, file);
    const lost = tensors?.find(([tensor, file]) => fileOf.get(tensor)?.path !== join(directory, file));
    if (lost !== undefined) {
      await closeAll(files);
      throw new PolicyError(
        'INVALID_FILE',
        `${indexPath} says that ${lost[1]} has tensor ${lost[0]}; it does not`,
      );
    }
    return new WeightFiles(directory, fileOf, files);
  }

  /** @throws PolicyError `TENSOR_MISMATCH` when it is missing or has another shape, `INVALID_FILE` for an unreadable type */
  requireTensor(name: string, shape: readonly number[]): void {
    const file = this.fileOf.get(name);
    if (file === undefined) {
      throw new PolicyError(
        'TENSOR_MISMATCH',
        `${this.directory}: tensor ${name} is missing in ${this.files.map(({ path }) => basename(path)).join(', ')}; the model needs it as [${shape.join(', ')}]`,
      );
    }
    file.requireTensor(name, shape);
  }

  /**
   * Fills `values` with a tensor that was required before.
   *
   * @throws PolicyError `INVALID_FILE`
   */
  async read(name: string, values: Float32Array): Promise<void> {
    await (this.fileOf.get(name) as SafetensorsFile).read(name, values);
  }

  /** Reads `SafetensorsFile.sample` of each file, in the order of their names. */
  async samples(): Promise<Uint8Array[]> {
    const samples: Uint8Array[] = [];
    for (const file of this.files) samples.push(...(await file.sample()));
    return samples;
  }

  /** The path of the file that holds a tensor. */
  pathOf(name: string): string {
    return this.fileOf.get(name)?.path ?? this.directory;
  }

  close(): Promise<void> {
    return closeAll(this.files);
  }
}

async function openAll(
  directory: string,
  names: readonly string[],
  index: string | null,
): Promise<SafetensorsFile[]> {
  const files: SafetensorsFile[] = [];
  try {
    for (const name of names) files.push(await SafetensorsFile.open(join(directory, name)));
    return files;
  } catch (error) {
    await closeAll(files);
    if (!(error instanceof PolicyError) || error.code !== 'FILE_MISSING') throw error;
    const others = (await readdir(directory).catch(() => [])).filter((name) =>
      /\.(bin|pth?|gguf)$/.test(name),
    );
    const hint =
      index !== null
        ? `, which ${index} names`
        : others.length > 0
          ? `; ${others.join(', ')} can't be read, save the model as safetensors`
          : '';
    throw new PolicyError('FILE_MISSING', error.message + hint, { cause: error });
  }
}

async function closeAll(files: readonly SafetensorsFile[]): Promise<void> {
  await Promise.all(files.map((file) => file.close()));
}
