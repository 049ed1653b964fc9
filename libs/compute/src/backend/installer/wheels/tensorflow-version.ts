import { ComputeError } from '../../compute-error.js';

/** Versions that can be installed, side by side; the newest first. */
export const TENSORFLOW_VERSIONS = ['2.21.0', '2.20.0', '2.19.1'] as const;

export type TensorflowVersion = (typeof TENSORFLOW_VERSIONS)[number];

/** What computes where nobody names a version. */
export const DEFAULT_TENSORFLOW_VERSION: TensorflowVersion = '2.21.0';

/**
 * The version that processes install and open: the one that `RETRACE_TENSORFLOW` names, or the default. Another one that is
 * installed is never taken in its place.
 *
 * @throws ComputeError `BACKEND_UNAVAILABLE` where it names none that is pinned.
 */
export function chosenTensorflowVersion(environment: NodeJS.ProcessEnv = process.env): TensorflowVersion {
  const named = environment['RETRACE_TENSORFLOW'];
  if (named === undefined || named === '') return DEFAULT_TENSORFLOW_VERSION;
  return parseTensorflowVersion(named, 'RETRACE_TENSORFLOW');
}

/**
 * @param source what the value was given as, for the message
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
