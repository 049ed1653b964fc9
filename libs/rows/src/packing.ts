import { open, stat } from 'node:fs/promises';
import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';

/** A way in which a file is compressed. */
export interface Packing {
  readonly name: string;
  /** Bytes that a file begins with. */
  readonly magic: Buffer;
  /** Ending of a file's name; a file of this name is of this packing whatever it begins with. */
  readonly ending: string;
  /** Makes a stream that unpacks; null = this Node can't. */
  readonly unpack: ((options: { readonly chunkSize: number }) => Transform) | null;
}

/** Node has zstd since 22.15. */
type ZlibWithZstd = typeof zlib & { readonly createZstdDecompress?: NonNullable<Packing['unpack']> };

const PACKINGS: readonly Packing[] = [
  { name: 'gzip', magic: Buffer.from('1f8b', 'hex'), ending: '.gz', unpack: zlib.createGunzip },
  {
    name: 'zstd',
    magic: Buffer.from('28b52ffd', 'hex'),
    ending: '.zst',
    unpack: (zlib as ZlibWithZstd).createZstdDecompress ?? null,
  },
  { name: 'xz', magic: Buffer.from('fd377a585a00', 'hex'), ending: '.xz', unpack: null },
  { name: 'bzip2', magic: Buffer.from('BZh'), ending: '.bz2', unpack: null },
  { name: 'zip', magic: Buffer.from('PK\x03\x04'), ending: '.zip', unpack: null },
];

const MAX_MAGIC_BYTES = Math.max(...PACKINGS.map(({ magic }) => magic.length));

/** A file from which no rows can be read, whatever is in it. */
export class RowFileError extends Error {
  readonly code = 'NOT_A_FILE';
  readonly retriable = false;
}

/**
 * Says how a file is compressed, by its first bytes or its name; null = it is not.
 *
 * @throws RowFileError for a FIFO, a device or a directory, which is not opened: nobody may ever write to a FIFO
 */
export async function findPacking(path: string): Promise<Packing | null> {
  if (!(await stat(path)).isFile()) {
    throw new RowFileError(`"${path}" is a FIFO, a device or a directory; only files can be read`);
  }
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_MAGIC_BYTES), 0, MAX_MAGIC_BYTES, 0);
    const start = buffer.subarray(0, bytesRead);
    const begins = ({ magic }: Packing) => start.subarray(0, magic.length).equals(magic);
    const isNamed = ({ ending }: Packing) => path.toLowerCase().endsWith(ending);
    return PACKINGS.find(begins) ?? PACKINGS.find(isNamed) ?? null;
  } finally {
    await file.close();
  }
}

/** A file's name in lower case, without the ending of a packing. */
export function unpackedName(path: string): string {
  const name = path.toLowerCase();
  const packing = PACKINGS.find(({ ending }) => name.endsWith(ending));
  return packing === undefined ? name : name.slice(0, -packing.ending.length);
}

/** Whether an error of reading says that a compressed file is damaged. */
export function isDamage(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && /^(Z_|ZSTD_)/.test(String(error.code));
}
