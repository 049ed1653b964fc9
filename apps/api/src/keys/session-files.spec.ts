import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiConfig } from '../config/api-config.js';
import { SessionFiles } from './session-files.js';

describe('SessionFiles', () => {
  let keyDirectory: string;
  const open = () => new SessionFiles(Object.assign(new ApiConfig(), { keyDirectory }));
  const files = () => readdirSync(join(keyDirectory, 'sessions'));

  beforeEach(() => {
    keyDirectory = mkdtempSync(join(tmpdir(), 'retrace-sessions-'));
  });

  afterEach(() => {
    rmSync(keyDirectory, { recursive: true });
  });

  it('finds a session that another process began, and stores no token', async () => {
    const { token, maxAgeSeconds } = await open().begin('0123456789ab');
    const session = await open().find(token);
    expect(session?.keyId).toBe('0123456789ab');
    const lifetimeMs = (session?.expiresAtMs ?? 0) - Date.now();
    expect(Math.abs(lifetimeMs - maxAgeSeconds * 1_000)).toBeLessThan(60_000);
    const [file] = files();
    expect(file + readFileSync(join(keyDirectory, 'sessions', file), 'utf8')).not.toContain(token);
    expect(await open().find(`${token}x`)).toBeNull();
  });

  it('finds no session after its end, and removes its file with the next login', async () => {
    const sessions = open();
    const { token } = await sessions.begin('0123456789ab');
    const [file] = files();
    writeFileSync(
      join(keyDirectory, 'sessions', file),
      JSON.stringify({ keyId: '0123456789ab', expiresAtMs: Date.now() - 1 }),
    );
    expect(await sessions.find(token)).toBeNull();
    await sessions.begin('ba9876543210');
    expect(files()).toHaveLength(1);
    expect(files()).not.toContain(file);
  });
});
