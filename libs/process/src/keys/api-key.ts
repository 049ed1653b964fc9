import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** The scopes of an API key: to record, to read runs, to run SQL, and everything. */
export const KEY_SCOPES = ['ingest', 'read', 'sql', 'admin'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];

/** A key as it is stored: everything about it but the key. */
export interface StoredKey {
  /** Contained in the key: `retrace_<id>_<secret>`. */
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  /** SHA-256 of the key, in hex. */
  readonly hash: string;
  readonly createdAt: string;
  /** Null for a key that never expires. */
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
}

const KEY = /^retrace_([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/;
const KEY_IN_TEXT = /retrace_([0-9a-f]{12})_[A-Za-z0-9_-]+/g;

/** Makes a key with a secret of 256 random bits. */
export function mintKey(): string {
  return `retrace_${randomBytes(6).toString('hex')}_${randomBytes(32).toString('base64url')}`;
}

/** The id that a key contains; null when the text has not the form of a key. */
export function parseKeyId(key: string): string | null {
  return KEY.exec(key)?.[1] ?? null;
}

/** The part of a key by which people recognize it. */
export function formatKeyPrefix({ id }: Pick<StoredKey, 'id'>): string {
  return `retrace_${id}`;
}

/**
 * Returns the SHA-256 of a key, in hex. A slow hash, as for passwords, would add nothing: it makes guessing dear, and 256 random bits
 * can't be guessed. It would cost each request milliseconds.
 */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** Whether the key is the stored one, in a time that does not depend on where they differ. */
export function matchesKey(key: string, { hash }: Pick<StoredKey, 'hash'>): boolean {
  return timingSafeEqual(Buffer.from(hashKey(key), 'hex'), Buffer.from(hash, 'hex'));
}

/** Whether a key may be used at a time. Revoked takes precedence over expired. */
export function keyStateAt(
  { expiresAt, revokedAt }: Pick<StoredKey, 'expiresAt' | 'revokedAt'>,
  nowMs: number,
): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= nowMs ? 'expired' : 'active';
}

/** Returns the text with the secret of each key in it hidden; the prefix stays, so that the key can be recognized. */
export function hideKeys(text: string): string {
  return text.replaceAll(KEY_IN_TEXT, 'retrace_$1_(hidden)');
}
