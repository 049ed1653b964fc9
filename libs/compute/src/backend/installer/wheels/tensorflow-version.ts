import { ComputeError } from '../../compute-error.js';

/** Versions that can be installed, side by side; the newest first. */
export const TENSORFLOW_VERSIONS = ['2.21.0', '2.20.0', '2.19.1'] as const;

export type TensorflowVersion = (typeof TENSORFLOW_VERSIONS)[number];

/** The version that is installed and opened where RETRACE_TENSORFLOW names none. */
export const DEFAULT_TENSORFLOW_VERSION: TensorflowVersion = '2.21.0';

/**
 * @param source name of the option or variable, for the message
 * @throws ComputeError `BACKEND_UNAVAILABLE` where the version is not pinned.
 */
export function parseTensorflowVersion(value: string, source: string): TensorflowVersion {
  const known = TENSORFLOW_VERSIONS.find((version) => version === value);
  if (known !== undefined) return known;
  throw new ComputeError(
    'BACKEND_UNAVAILABLE',
    `${source} is ${JSON.stringify(value)}; it must be one of ${TENSORFLOW_VERSIONS.join(', ')}`,
  );
}
