import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { numElements } from '../parameters/parameter-spec.js';
import { PolicyError } from '../policy-error.js';
import { decodeElements, ELEMENT_BYTES } from './element-types.js';
import { toFileName } from './file-ref.js';
import { openRegularFile } from './open-regular-file.js';
import {
  parseSafetensorsHeader,
  PREFIX_BYTES,
  readHeaderLength,
  requireReadable,
} from './safetensors-header.js';
import type { SafetensorsHeader, SafetensorsMetadata, TensorEntry } from './safetensors-header.js';
import { readShards } from './shards.js';
import type { TensorSource } from './tensor-source.js';

/** Bytes read at once; a multiple of every element's size. */
const CHUNK_BYTES = 16 * 2 ** 20;

/** Bytes at each end of the data that `sample` reads. */
const SAMPLE_BYTES = 2 ** 20;

/**
 * A safetensors file on disk whose tensors are read one at a time, so the file is never in memory as a whole. It may be an index whose shards lie
 * beside it; then their tensors are its own, each with the rows of all shards in their order.
 */
export class SafetensorsFile implements TensorSource {
  private constructor(
    readonly path: string,
    readonly header: SafetensorsHeader,
    /** The file itself, or the shards. */
    private readonly files: readonly OpenedFile[],
  ) {}

  /**
   * Reads and checks the header.
   *
   * @throws PolicyError `FILE_MISSING` when the file or a shard does not exist, `INVALID_FILE` when one breaks the format
   */
  static async open(path: string): Promise<SafetensorsFile> {
    const file = await openFile(path);
    let shards: OpenedFile[] = [];
    try {
      const listed = readShards(file.header.metadata, path);
      if (listed === null) return new SafetensorsFile(path, file.header, [file]);
      for (const { sha256 } of listed) shards.push(await openFile(join(dirname(path), toFileName(sha256))));
      const entries = joinEntries(shards);
      const opened = new SafetensorsFile(path, { metadata: file.header.metadata, entries }, shards);
      shards = [];
      await file.handle.close();
      return opened;
    } catch (error) {
      for (const { handle } of [file, ...shards]) await handle.close();
      throw error;
    }
  }

  /** Fills `values`, which has the tensor's size, with its elements as float32. */
  async read(name: string, values: Float32Array): Promise<void> {
    this.entry(name);
    let from = 0;
    for (const file of this.files) {
      const entry = file.header.entries.get(name);
      if (entry === undefined) continue;
      const length = numElements(entry.shape);
      await readTensor(file, name, entry, values.subarray(from, from + length));
      from += length;
    }
  }

  /** @throws PolicyError `TENSOR_MISMATCH` when the tensor is missing or has another shape, `INVALID_FILE` when its type can't be read */
  requireTensor(name: string, shape: readonly number[]): void {
    const entry = this.header.entries.get(name);
    if (entry === undefined || entry.shape.join() !== shape.join()) {
      const found = entry === undefined ? 'is missing' : `has shape [${entry.shape.join(', ')}]`;
      throw new PolicyError(
        'TENSOR_MISMATCH',
        `${this.path}: tensor ${name} ${found}; the model needs [${shape.join(', ')}]`,
      );
    }
    requireReadable(entry, name, this.path);
  }

  /** Reads header, first and last bytes of the data of each file, which tell it from others of the same shape. */
  async sample(): Promise<Uint8Array[]> {
    const samples: Uint8Array[] = [];
    for (const { handle, path, dataStart } of this.files) {
      const { size } = await handle.stat();
      const head = Math.min(size, dataStart + SAMPLE_BYTES);
      const tail = Math.max(head, size - SAMPLE_BYTES);
      samples.push(
        await readFully(handle, path, 0, Buffer.alloc(head)),
        await readFully(handle, path, tail, Buffer.alloc(size - tail)),
      );
    }
    return samples;
  }

  pathOf(): string {
    return this.path;
  }

  async close(): Promise<void> {
    for (const { handle } of this.files) await handle.close();
  }

  private entry(name: string): TensorEntry {
    const entry = this.header.entries.get(name);
    if (entry !== undefined) return entry;
    throw new PolicyError('TENSOR_MISMATCH', `${this.path}: tensor ${name} is missing`);
  }
}

/**
 * Reads the text entries of a file; of an index its own.
 *
 * @throws PolicyError as `SafetensorsFile.open`
 */
export async function readMetadata(path: string): Promise<SafetensorsMetadata> {
  const { handle, header } = await openFile(path);
  await handle.close();
  return header.metadata;
}

/** A file with its header. */
interface OpenedFile {
  readonly path: string;
  readonly header: SafetensorsHeader;
  readonly handle: FileHandle;
  /** Bytes before the data. */
  readonly dataStart: number;
}

async function openFile(path: string): Promise<OpenedFile> {
  const handle = await openRegularFile(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause;
    throw new PolicyError('FILE_MISSING', `${path} does not exist`, { cause });
  });
  if (handle === null) throw new PolicyError('INVALID_FILE', `${path} is no regular file`);
  try {
    const { size } = await handle.stat();
    const prefix = await readFully(handle, path, 0, Buffer.alloc(Math.min(PREFIX_BYTES, size)));
    const headerBytes = readHeaderLength(prefix, size, path);
    const json = await readFully(handle, path, PREFIX_BYTES, Buffer.alloc(headerBytes));
    const dataStart = PREFIX_BYTES + headerBytes;
    return { path, header: parseSafetensorsHeader(json, size - dataStart, path), handle, dataStart };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The tensors of shards with the rows of all; places are bytes of the tensor itself. */
function joinEntries(shards: readonly OpenedFile[]): ReadonlyMap<string, TensorEntry> {
  const joined = new Map<string, TensorEntry>();
  for (const { header, path } of shards) {
    for (const [name, { type, shape, start, end }] of header.entries) {
      const before = joined.get(name);
      const [rows = 0, ...rest] = shape;
      const [rowsBefore = 0, ...restBefore] = before?.shape ?? [0, ...rest];
      if (
        shape.length === 0 ||
        rest.join() !== restBefore.join() ||
        (before !== undefined && before.type !== type)
      ) {
        const found = `${type} [${shape.join(', ')}]`;
        throw new PolicyError(
          'INVALID_FILE',
          `${path}: tensor ${name} is ${found}, and other in another shard`,
        );
      }
      const bytes = (before?.end ?? 0) + end - start;
      joined.set(name, { type, shape: [rowsBefore + rows, ...rest], start: 0, end: bytes });
    }
  }
  return joined;
}

async function readTensor(
  { handle, path, dataStart }: OpenedFile,
  name: string,
  entry: TensorEntry,
  values: Float32Array,
): Promise<void> {
  const type = requireReadable(entry, name, path);
  const size = ELEMENT_BYTES[type];
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, entry.end - entry.start));
  for (let start = entry.start; start < entry.end; start += CHUNK_BYTES) {
    const bytes = chunk.subarray(0, Math.min(CHUNK_BYTES, entry.end - start));
    await readFully(handle, path, dataStart + start, bytes);
    const first = (start - entry.start) / size;
    decodeElements(type, bytes, values.subarray(first, first + bytes.length / size));
  }
}

async function readFully(file: FileHandle, path: string, position: number, bytes: Buffer): Promise<Buffer> {
  let offset = 0;
  while (offset < bytes.length) {
    const { bytesRead } = await file.read(bytes, offset, bytes.length - offset, position + offset);
    if (bytesRead === 0) {
      throw new PolicyError(
        'INVALID_FILE',
        `${path} ends at byte ${position + offset}; it should reach byte ${position + bytes.length}`,
      );
    }
    offset += bytesRead;
  }
  return bytes;
}
