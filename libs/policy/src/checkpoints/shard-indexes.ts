import type { FileRef } from './file-ref.js';
import { MAX_INDEX_BYTES, shardsIn } from './shards.js';

/** Most small files of which it is remembered that they are no indexes. */
const MAX_OTHERS = 65_536;

interface ListedFiles {
  /** All complete files. */
  list(): Promise<readonly FileRef[]>;
  /** The content of a file; null for one that is larger than any index, or is not there. */
  readSmall(sha256: string): Promise<Uint8Array | null>;
  /** For messages. */
  pathOf(sha256: string): string;
}

/** Tells which shards the indexes among some files list. A file never changes, so what was read is remembered. */
export class ShardIndexes {
  /** Shards by the hash of their index. */
  private readonly known = new Map<string, readonly FileRef[]>();
  /** Hashes of small files that are no indexes. */
  private readonly others = new Set<string>();

  constructor(private readonly files: ListedFiles) {}

  /** The shards that a file of this hash lists; none where it is no index, or is not there. */
  async shardsOf(sha256: string): Promise<readonly FileRef[]> {
    const known = this.known.get(sha256);
    if (known !== undefined) return known;
    if (this.others.has(sha256)) return [];
    const bytes = await this.files.readSmall(sha256);
    // One that is not there may come.
    if (bytes === null) return [];
    return this.remember(sha256, shardsIn(bytes, this.files.pathOf(sha256)));
  }

  /** Those of some shards that no file but one lists. */
  async unlisted(shards: readonly FileRef[], except: string): Promise<readonly FileRef[]> {
    if (shards.length === 0) return [];
    const listed = new Set<string>();
    for (const { sha256, sizeBytes } of await this.files.list()) {
      if (sha256 === except || sizeBytes > MAX_INDEX_BYTES) continue;
      for (const shard of await this.shardsOf(sha256)) listed.add(shard.sha256);
    }
    return shards.filter(({ sha256 }) => !listed.has(sha256));
  }

  remember(sha256: string, shards: readonly FileRef[]): readonly FileRef[] {
    if (shards.length > 0) this.known.set(sha256, shards);
    else {
      this.others.add(sha256);
      const [oldest] = this.others;
      if (this.others.size > MAX_OTHERS) this.others.delete(oldest);
    }
    return shards;
  }

  forget(sha256: string): void {
    this.known.delete(sha256);
    this.others.delete(sha256);
  }
}
