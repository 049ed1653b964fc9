import { EndpointError } from '../endpoint-error.js';

/** @throws EndpointError `WEIGHTS_NOT_TAKEN` unless the server serves the version that was delivered */
export function requireVersion(found: string | null, delivered: string): void {
  if (found === delivered) return;
  const said = found === null ? 'no version' : `version ${found}`;
  throw new EndpointError(
    'WEIGHTS_NOT_TAKEN',
    `the server says that it serves ${said} after version ${delivered} was delivered`,
  );
}
