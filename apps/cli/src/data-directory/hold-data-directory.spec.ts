import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  holdDataDirectory,
  isJoined,
  joinOrHoldDataDirectory,
  requireNoneJoined,
} from './hold-data-directory.js';

const server = {
  pid: process.pid,
  apiUrl: 'http://127.0.0.1:8787',
  storeUrl: 'http://127.0.0.1:9000',
  hasSink: true,
  startedAt: '2026-01-01T00:00:00.000Z',
};

describe('joinOrHoldDataDirectory', () => {
  let path: string;
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'retrace-hold-'));
  });
  afterEach(() => {
    rmSync(path, { recursive: true });
  });

  it('holds a directory that nobody holds, also where a killed server left its address', async () => {
    const first = await joinOrHoldDataDirectory(path);
    first.directory.announceServer(server);
    first.lock.release();
    const second = await joinOrHoldDataDirectory(path);
    expect(second.joined).toBeNull();
    expect(isJoined(second.directory)).toBe(false);
    second.lock.release();
  });

  it('joins a server that fills the store, and goes on when others hold the directory after it', async () => {
    const held = await holdDataDirectory(path);
    held.directory.announceServer(server);
    const guest = await joinOrHoldDataDirectory(path);
    expect(guest.joined).toEqual(server);
    await expect(holdDataDirectory(path)).rejects.toMatchObject({ code: 'DATA_DIRECTORY_IN_USE' });

    held.directory.withdrawServer();
    held.lock.release();
    const next = await holdDataDirectory(path);
    expect(() => {
      requireNoneJoined(next.directory, './data');
    }).toThrow(
      'data directory ./data: a command that joined a server still writes to the log; stop it, or wait for its end',
    );
    expect(next.directory.lastStorePort()).toBe(9000);
    guest.lock.release();
    requireNoneJoined(next.directory, './data');
    next.lock.release();
  });

  it('waits for a server that is starting, and joins it then', async () => {
    const held = await holdDataDirectory(path);
    const guest = joinOrHoldDataDirectory(path, () => {
      held.directory.announceServer(server);
    });
    expect((await guest).joined).toEqual(server);
    (await guest).lock.release();
    held.lock.release();
  });

  it('does not join a store that nobody fills', async () => {
    const held = await holdDataDirectory(path);
    held.directory.announceServer({ ...server, hasSink: false });
    await expect(joinOrHoldDataDirectory(path)).rejects.toMatchObject({ code: 'DATA_DIRECTORY_IN_USE' });
    held.lock.release();
  });
});
