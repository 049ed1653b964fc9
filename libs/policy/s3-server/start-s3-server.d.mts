/** An S3 server that runs for a test. */
export interface S3Server {
  readonly endpoint: string;
  readonly bucket: string;
  /** Where the objects of the bucket are, as files. */
  readonly bucketDirectory: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** Kills the server; its objects stay. */
  stop(): Promise<void>;
  /** Starts it again at the same address. */
  start(): Promise<void>;
  close(): Promise<void>;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Of `vitest-setup.mjs`. */
    s3Server:
      | Pick<S3Server, 'endpoint' | 'bucket' | 'bucketDirectory' | 'credentials'>
      | { readonly unavailable: string };
  }
}

/** `unavailable` completes "skipped, because …". */
export function startS3Server(): Promise<S3Server | { readonly unavailable: string }>;
