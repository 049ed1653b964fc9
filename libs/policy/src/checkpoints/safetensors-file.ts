import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { PolicyError } from '../policy-error.js';
import { decodeElements, ELEMENT_BYTES } from './element-types.js';
import {
  parseSafetensorsHeader,
  PREFIX_BYTES,
  readHeaderLength,
  requireReadable,
} from './safetensors-header.js';
import type { SafetensorsHeader, TensorEntry } from './safetensors-header.js';
import type { TensorSource } from './tensor-source.js';

/** Bytes read at once; a multiple of every element's size. */
const CHUNK_BYTES = 16 * 2 ** 20;

/** Bytes at each end of the data that `sample` reads. */
const SAMPLE_BYTES = 2 ** 20;

/** A safetensors file on disk whose tensors are read one at a time, so the file is never in memory as a whole. */
export class SafetensorsFile implements TensorSource {
  private constructor(
    readonly path: string,
    readonly header: SafetensorsHeader,
    private readonly file: FileHandle,
    private readonly dataStart: number,
  ) {}

  /**
   * Reads and checks the header.
   *
   * @throws PolicyError `FILE_MISSING` when the file does not exist, `INVALID_FILE` when it breaks the format
   */
  static async open(path: string): Promise<SafetensorsFile> {
    const file = await open(path, 'r').catch((cause: NodeJS.ErrnoException) => {
      if (cause.code !== 'ENOENT') throw cause;
      throw new PolicyError('FILE_MISSING', `${path} does not exist`, { cause });
    });
    try {
      const { size } = await file.stat();
      const prefix = await readFully(file, path, 0, Buffer.alloc(Math.min(PREFIX_BYTES, size)));
      const headerBytes = readHeaderLength(prefix, size, path);
      const json = await readFully(file, path, PREFIX_BYTES, Buffer.alloc(headerBytes));
      const dataStart = PREFIX_BYTES + headerBytes;
      return new SafetensorsFile(path, parseSafetensorsHeader(json, size - dataStart, path), file, dataStart);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Fills `values`, which has the tensor's size, with its elements as float32. */
  async read(name: string, values: Float32Array): Promise<void> {
    const entry = this.entry(name);
    const type = requireReadable(entry, name, this.path);
    const size = ELEMENT_BYTES[type];
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, entry.end - entry.start));
    for (let start = entry.start; start < entry.end; start += CHUNK_BYTES) {
      const bytes = chunk.subarray(0, Math.min(CHUNK_BYTES, entry.end - start));
      await readFully(this.file, this.path, this.dataStart + start, bytes);
      const first = (start - entry.start) / size;
      decodeElements(type, bytes, values.subarray(first, first + bytes.length / size));
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

  /** Reads the header and the first and last bytes of the data, which tell this file from others of the same shape. */
  async sample(): Promise<Uint8Array[]> {
    const { size } = await this.file.stat();
    const head = Math.min(size, this.dataStart + SAMPLE_BYTES);
    const tail = Math.max(head, size - SAMPLE_BYTES);
    return [
      await readFully(this.file, this.path, 0, Buffer.alloc(head)),
      await readFully(this.file, this.path, tail, Buffer.alloc(size - tail)),
    ];
  }

  pathOf(): string {
    return this.path;
  }

  close(): Promise<void> {
    return this.file.close();
  }

  private entry(name: string): TensorEntry {
    const entry = this.header.entries.get(name);
    if (entry !== undefined) return entry;
    throw new PolicyError('TENSOR_MISMATCH', `${this.path}: tensor ${name} is missing`);
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
