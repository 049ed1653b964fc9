import { mkdir } from 'node:fs/promises';
import { DirectoryHold } from '@retrace/spool';
import { GatewayError } from '../../http/gateway-error.js';

/**
 * Holds a state directory for this process.
 *
 * @throws GatewayError `STATE_DIRECTORY_UNUSABLE` when another process holds it, or it can't be made
 */
export async function holdStateDirectory(directory: string): Promise<DirectoryHold> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const hold = await DirectoryHold.claim(directory, 'proxy');
    if (hold === null) throw new Error('another proxy uses it; choose another with --state');
    return hold;
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new GatewayError(
      'STATE_DIRECTORY_UNUSABLE',
      `The state directory ${directory} can't be used: ${said}`,
      { cause },
    );
  }
}
