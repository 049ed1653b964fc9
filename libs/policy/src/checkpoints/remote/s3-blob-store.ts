import { createReadStream } from 'node:fs';
import type * as Sdk from '@aws-sdk/client-s3';
import { PolicyError } from '../../policy-error.js';
import type { BlobRef, BlobStore } from './blob-store.js';

/** Where the blobs are in a storage that speaks S3. */
export interface S3Location {
  readonly bucket: string;
  /** Precedes the names of the blobs; '' or ending in a slash. */
  readonly prefix: string;
  /** URL of the server; null for AWS. */
  readonly endpoint: string | null;
  /** Null for that of the SDK's configuration. */
  readonly region: string | null;
}

/** Bytes of one part of an upload; a file of less is uploaded in one request. The SDK's minimum is 5 MiB. */
const PART_BYTES = 16 * 2 ** 20;
const PARALLEL_PARTS = 4;
/** Tries of a request, with growing pauses: about a minute. */
const MAX_ATTEMPTS = 8;
const CONNECTION_TIMEOUT_MS = 10_000;
/** Longest silence of the server within a request. */
const SOCKET_TIMEOUT_MS = 60_000;
/** Region of servers other than AWS, which ignore it but need one in the signature. */
const NO_REGION = 'us-east-1';

/**
 * Blobs in a bucket of S3, or of another server that speaks its protocol. Large files are uploaded in parts; every upload carries a
 * checksum that the server verifies. Credentials come from the SDK's default chain: environment, profile, or the machine's role. The SDK is
 * loaded by the first request.
 */
export class S3BlobStore implements BlobStore {
  readonly description: string;
  private opened: Promise<{ readonly sdk: typeof Sdk; readonly client: Sdk.S3Client }> | null = null;

  constructor(private readonly location: S3Location) {
    const { bucket, prefix, endpoint } = location;
    this.description = `s3://${bucket}/${prefix}${endpoint === null ? '' : ` at ${endpoint}`}`;
  }

  async put(name: string, path: string): Promise<void> {
    const { client } = await this.open();
    const { Upload } = await import('@aws-sdk/lib-storage');
    const upload = new Upload({
      client,
      params: { ...this.key(name), Body: createReadStream(path, { highWaterMark: PART_BYTES }) },
      partSize: PART_BYTES,
      queueSize: PARALLEL_PARTS,
    });
    await this.answered(upload.done());
  }

  async get(name: string): Promise<AsyncIterable<Uint8Array> | null> {
    const { sdk, client } = await this.open();
    try {
      const { Body } = await client.send(new sdk.GetObjectCommand(this.key(name)));
      return this.pieces(Body as AsyncIterable<Uint8Array>);
    } catch (error) {
      if (error instanceof sdk.NoSuchKey) return null;
      throw this.failure(error);
    }
  }

  async has(name: string): Promise<boolean> {
    const { sdk, client } = await this.open();
    try {
      await client.send(new sdk.HeadObjectCommand(this.key(name)));
      return true;
    } catch (error) {
      if (error instanceof sdk.NotFound) return false;
      throw this.failure(error);
    }
  }

  async delete(name: string): Promise<void> {
    const { sdk, client } = await this.open();
    await this.answered(client.send(new sdk.DeleteObjectCommand(this.key(name))));
  }

  async list(): Promise<BlobRef[]> {
    const { sdk, client } = await this.open();
    const { bucket, prefix } = this.location;
    const blobs: BlobRef[] = [];
    let next: string | undefined;
    do {
      const asked = { Bucket: bucket, Prefix: prefix, Delimiter: '/', ContinuationToken: next };
      const page = await this.answered(client.send(new sdk.ListObjectsV2Command(asked)));
      for (const { Key: key = '', Size: sizeBytes = 0 } of page.Contents ?? []) {
        blobs.push({ name: key.slice(prefix.length), sizeBytes });
      }
      next = page.NextContinuationToken;
    } while (next !== undefined);
    return blobs;
  }

  private open() {
    // On Node versions that Retrace supports, the SDK would warn about its future requirements at each start of a process.
    process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
    this.opened ??= import('@aws-sdk/client-s3').then((sdk) => {
      const { endpoint, region } = this.location;
      const client = new sdk.S3Client({
        maxAttempts: MAX_ATTEMPTS,
        requestHandler: { connectionTimeout: CONNECTION_TIMEOUT_MS, socketTimeout: SOCKET_TIMEOUT_MS },
        // Readers compare the whole content with its SHA-256.
        responseChecksumValidation: 'WHEN_REQUIRED',
        // Most servers other than AWS have no host name for each bucket.
        ...(endpoint === null ? {} : { endpoint, forcePathStyle: true, region: NO_REGION }),
        ...(region === null ? {} : { region }),
      });
      return { sdk, client };
    });
    return this.opened;
  }

  private key(name: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.location.bucket, Key: `${this.location.prefix}${name}` };
  }

  private async *pieces(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      throw this.failure(error);
    }
  }

  private answered<T>(answer: Promise<T>): Promise<T> {
    return answer.catch((error: unknown) => {
      throw this.failure(error);
    });
  }

  private failure(cause: unknown): PolicyError {
    const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
    // A refused connection to several addresses has an empty message.
    const why = [name, message].filter((part) => part !== '').join(': ');
    return new PolicyError('CHECKPOINT_STORAGE_FAILED', `checkpoint storage ${this.description}: ${why}`, {
      cause,
      retriable: true,
    });
  }
}
