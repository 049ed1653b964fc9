import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Doorbell } from './doorbell.js';

/** Longer than a test may take, so a wait that resolves sooner was woken. */
const NEVER_MS = 600_000;

let directory: string;
const opened: Doorbell[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'retrace-doorbell-'));
});

afterEach(() => {
  opened.splice(0).forEach((doorbell) => {
    doorbell.close();
  });
  rmSync(directory, { recursive: true });
});

function open(): Doorbell {
  const doorbell = new Doorbell(directory);
  opened.push(doorbell);
  return doorbell;
}

it('doorbell: a ring wakes the listeners on the same log, and its own waiters', async () => {
  const [ringing, listening] = [open(), open()];
  listening.listen();
  const heard = [listening.wait(NEVER_MS, undefined), ringing.wait(NEVER_MS, undefined)];
  ringing.ring();
  await Promise.all(heard);
});

it('doorbell: the file does not grow with the number of rings', () => {
  const doorbell = open();
  for (let i = 0; i < 100; i++) doorbell.ring();
  expect(statSync(join(directory, 'doorbell')).size).toBe(1);
});

it('doorbell: followers look more often where notifications fail', () => {
  const doorbell = open();
  const heardPauseMs = doorbell.maxPauseMs;
  rmSync(join(directory, 'doorbell'));
  doorbell.listen();
  expect(doorbell.maxPauseMs).toBeLessThan(heardPauseMs);
});

it('doorbell: close wakes its waiters, and later rings do nothing', async () => {
  const doorbell = open();
  const waiting = doorbell.wait(NEVER_MS, undefined);
  doorbell.close();
  await waiting;
  doorbell.ring();
  doorbell.close();
});
