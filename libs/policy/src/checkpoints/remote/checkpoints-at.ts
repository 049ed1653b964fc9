import { CheckpointFiles } from '../checkpoint-files.js';
import { PolicyError } from '../../policy-error.js';
import { RemoteCheckpointFiles } from './remote-checkpoint-files.js';
import { S3BlobStore, type S3Location } from './s3-blob-store.js';

/** Where checkpoint files are. */
export interface CheckpointLocation {
  /** On this machine; with a storage, `<directory>-cache` holds copies of a few files. */
  readonly directory: string;
  /** Null keeps the files in the directory. */
  readonly storage: CheckpointStorage | null;
}

/** Storage that speaks S3. Credentials are no part of it: they come from the SDK's default chain. */
export interface CheckpointStorage {
  /** `s3://bucket` or `s3://bucket/prefix`. */
  readonly url: string;
  /** Of a server other than AWS, such as `http://127.0.0.1:9000`. */
  readonly endpoint?: string;
  readonly region?: string;
}

/**
 * The checkpoint files at a location; nothing is read or written yet.
 *
 * @throws PolicyError `INVALID_CONFIG` for a URL that names no bucket
 */
export function checkpointsAt({ directory, storage }: CheckpointLocation): CheckpointFiles {
  if (storage === null) return new CheckpointFiles(directory);
  return new RemoteCheckpointFiles(`${directory}-cache`, new S3BlobStore(parseS3Location(storage)));
}

function parseS3Location({ url, endpoint, region }: CheckpointStorage): S3Location {
  const [, bucket, path = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]+[a-z0-9])(?:\/(.*))?$/.exec(url) ?? [];
  if (bucket === undefined) {
    const rule =
      'must be s3://bucket or s3://bucket/prefix, with a bucket of lower-case letters, digits, dots and dashes';
    throw new PolicyError('INVALID_CONFIG', `checkpoint storage ${JSON.stringify(url)}: ${rule}`);
  }
  const prefix = path === '' || path.endsWith('/') ? path : `${path}/`;
  return { bucket, prefix, endpoint: endpoint ?? null, region: region ?? null };
}
