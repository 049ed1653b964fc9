/** Names the content of a file. */
export interface FileRef {
  /** Hex. */
  readonly sha256: string;
  readonly sizeBytes: number;
}

const SUFFIX = '.safetensors';
const NAME = /^([0-9a-f]{64})\.safetensors$/;

/** The name of a checkpoint file, on disk and in object storage. */
export function toFileName(sha256: string): string {
  return `${sha256}${SUFFIX}`;
}

/** The hash in the name of a checkpoint file; null for another name. */
export function hashOfName(name: string): string | null {
  return NAME.exec(name)?.[1] ?? null;
}
