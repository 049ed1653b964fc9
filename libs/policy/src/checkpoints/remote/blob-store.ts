/** A blob by its name. */
export interface BlobRef {
  readonly name: string;
  readonly sizeBytes: number;
}

/**
 * Files in storage that several machines share, by name.
 *
 * Duties of an implementer, which `blob-store.contract.ts` checks:
 * - `put` resolves when the blob is durable. A reader gets the whole blob or none, whenever the writer dies. A blob of that name is replaced.
 * - `get` gives the content in order, or null where there is none; a connection that breaks rejects, it never ends the content early.
 * - `has` tells whether `get` would find a blob.
 * - `list` has every blob whose `put` has resolved and whose `delete` has not begun, in any order. `delete` of a blob that is not there is no error.
 * - Calls may overlap, also those of other processes.
 * - What the storage refuses rejects with PolicyError `CHECKPOINT_STORAGE_FAILED`, which names the storage; never a secret.
 */
export interface BlobStore {
  /** For messages, such as `s3://bucket/prefix`. */
  readonly description: string;
  /** @param path of a file that does not change meanwhile */
  put(name: string, path: string): Promise<void>;
  get(name: string): Promise<AsyncIterable<Uint8Array> | null>;
  has(name: string): Promise<boolean>;
  delete(name: string): Promise<void>;
  list(): Promise<BlobRef[]>;
}
