import {
  KeyDirectory,
  parseKeyId,
  formatKeyPrefix,
  keyStateAt,
  type KeyScope,
  type StoredKey,
} from '@retrace/process';
import { CliError } from '../../cli-error.js';
import type { CommonOptions } from '../../options.js';
import { dataDirectoryAt, locateKeys } from '../../data-directory/environment.js';
import { renderRecords } from '../../terminal/table.js';

interface CreateOptions extends CommonOptions {
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  /** Milliseconds from now. */
  readonly expiresIn?: number;
}

/** Creates a key and prints it. */
export async function createKey({ dataDir, json, name, scopes, expiresIn }: CreateOptions): Promise<void> {
  const nowMs = Date.now();
  const expiresAt = expiresIn === undefined ? null : new Date(nowMs + expiresIn).toISOString();
  const { key, stored } = await locateKeyDirectory(dataDir).create({ name, scopes, expiresAt }, nowMs);
  if (json === true) {
    console.log(JSON.stringify({ key, ...toShownKey(stored, nowMs) }));
    return;
  }
  console.log(key);
  console.error(
    `Key "${name}" with ${scopes.join(', ')}, ${expiresAt === null ? 'without expiry' : `until ${expiresAt}`}. It is shown this once: only its hash is stored.`,
  );
}

/** Prints all keys, the oldest first. */
export async function listKeys({ dataDir, json }: CommonOptions): Promise<void> {
  const directory = locateKeyDirectory(dataDir);
  const nowMs = Date.now();
  const { keys, damaged } = await directory.list();
  const shown = await Promise.all(
    keys.map(async (key) => ({ ...toShownKey(key, nowMs), lastUsedAt: await directory.lastUse(key.id) })),
  );
  if (json === true) {
    console.log(JSON.stringify({ keys: shown, damaged }, null, 2));
    return;
  }
  console.log(
    shown.length === 0
      ? 'no keys'
      : renderRecords(shown.map(({ scopes, ...key }) => ({ ...key, scopes: scopes.join(', ') }))),
  );
  for (const file of damaged) console.error(`${file} is damaged; remove it, and create another key`);
}

/**
 * Revokes a key, which running servers refuse within a second or two.
 *
 * @throws CliError `KEY_UNKNOWN` or `KEY_AMBIGUOUS`
 */
export async function revokeKey(named: string, { dataDir, json }: CommonOptions): Promise<void> {
  const directory = locateKeyDirectory(dataDir);
  const { keys } = await directory.list();
  const nowMs = Date.now();
  const revoked = await directory.revoke(findKey(keys, named, nowMs), nowMs);
  if (json === true) console.log(JSON.stringify(toShownKey(revoked, nowMs)));
  else console.log(`revoked ${formatKeyPrefix(revoked)} (${revoked.name})`);
}

/** Of several keys of one name, only those that can still be used count. */
function findKey(keys: readonly StoredKey[], named: string, nowMs: number): StoredKey {
  const id = parseKeyId(named) ?? named.replace(/^retrace_/, '');
  const byId = keys.find((key) => key.id === id);
  if (byId !== undefined) return byId;
  const byName = keys.filter((key) => key.name === named && keyStateAt(key, nowMs) === 'active');
  if (byName.length === 1) return byName[0];
  if (byName.length === 0) {
    throw new CliError(
      'KEY_UNKNOWN',
      'no API key has this id, prefix or name; "retrace keys list" lists them',
    );
  }
  throw new CliError(
    'KEY_AMBIGUOUS',
    `${byName.length} API keys have the name "${named}": ${byName.map(formatKeyPrefix).join(', ')}; give the prefix of one`,
  );
}

/** A key as it is shown to people and programs: without its hash. */
function toShownKey(key: StoredKey, nowMs: number) {
  const { id, name, scopes, createdAt, expiresAt, revokedAt } = key;
  return {
    id,
    prefix: formatKeyPrefix(key),
    name,
    scopes,
    state: keyStateAt(key, nowMs),
    createdAt,
    expiresAt,
    revokedAt,
  };
}

function locateKeyDirectory(dataDir: string): KeyDirectory {
  return new KeyDirectory(locateKeys(dataDirectoryAt(dataDir)));
}
