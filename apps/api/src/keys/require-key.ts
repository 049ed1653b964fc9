import { isLoopback } from '@retrace/page-guard';
import { KeyDirectory, formatKeyPrefix, keyStateAt } from '@retrace/process';
import { ApiError } from '../api-error.js';
import type { ApiConfig } from '../config/api-config.js';

/**
 * Makes sure that there is a key where the API listens beyond the loopback interface. Makes one if a file is named for it.
 *
 * @param say takes a sentence for the log, which never contains the key
 * @throws ApiError `API_KEY_MISSING`
 */
export async function requireKey(
  { host, keyDirectory, firstKeyFile }: Pick<ApiConfig, 'host' | 'keyDirectory' | 'firstKeyFile'>,
  say: (sentence: string) => void,
): Promise<void> {
  if (isLoopback(host)) return;
  if (keyDirectory === null) {
    throw new ApiError(
      'API_KEY_MISSING',
      `the API would listen on ${host} and needs API keys there: name their directory by RETRACE_API_KEYS_DIRECTORY, and make one with "retrace keys create"`,
    );
  }
  const directory = new KeyDirectory(keyDirectory);
  const nowMs = Date.now();
  const { keys } = await directory.list();
  if (keys.some((key) => keyStateAt(key, nowMs) === 'active')) return;
  if (firstKeyFile !== null) {
    const first = await directory.createFirst(firstKeyFile, nowMs);
    if (keyStateAt(first, nowMs) === 'active') {
      say(`API key ${formatKeyPrefix(first)} with scope admin is in the file ${firstKeyFile}`);
      return;
    }
  }
  throw new ApiError(
    'API_KEY_MISSING',
    `the API would listen on ${host}, and there is no API key that can be used; make one with "retrace keys create --name admin --scopes admin", or listen on 127.0.0.1`,
  );
}
