import { join } from 'node:path';
import { FileLock } from '@retrace/spool/file-lock';
import { GatewayError } from '../../http/gateway-error.js';

/**
 * Holds a state directory for this process.
 *
 * @throws GatewayError `STATE_DIRECTORY_UNUSABLE` when another process holds it, or it can't be made
 */
export async function holdStateDirectory(directory: string): Promise<FileLock> {
  try {
    const lock = await FileLock.tryAcquire(join(directory, 'proxy.lock'));
    if (lock === null) throw new Error('another proxy uses it; choose another with --state');
    return lock;
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new GatewayError(
      'STATE_DIRECTORY_UNUSABLE',
      `The state directory ${directory} can't be used: ${said}`,
      { cause },
    );
  }
}
