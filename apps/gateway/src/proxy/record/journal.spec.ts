import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { outboxLine, type OutboxEntry } from '@retrace/client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { BookEvent } from '../episode/book-event.js';
import { Journal, type JournalLine, type NewLine } from './journal.js';

let directory: string;
const errors: unknown[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-journal-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
  expect(errors.splice(0)).toEqual([]);
});

const open = () => Journal.open(directory, (error) => errors.push(error));
const ended = (episode: string): BookEvent => ({ type: 'end', run: 'r', episode });
const entry = (episode: string): OutboxEntry => ({
  kind: 'record',
  run: 'r',
  content: { type: 'reward', id: episode, episode, name: 'n', value: 1 },
});
const line = (episode: string): JournalLine => ({ events: [ended(episode)], entries: [entry(episode)] });
const newLine = (episode: string): NewLine => ({
  events: [ended(episode)],
  entries: [outboxLine(entry(episode))],
});

it('gives the lines that were written to the next process, without a torn one', async () => {
  const { journal, lines } = await open();
  expect(lines).toEqual([]);
  await Promise.all([journal.append(newLine('a')), journal.append(newLine('b'))]);
  await journal.close();
  await appendFile(join(directory, 'journal.ndjson'), '{"events":[{"type":"en');
  const next = await open();
  expect(next.lines).toEqual([line('a'), line('b')]);
  await next.journal.append(newLine('c'));
  await next.journal.close();
  const last = await open();
  expect(last.lines).toEqual([line('a'), line('b'), line('c')]);
  await last.journal.close();
});

it('keeps the entries of lines that come while it is written again, and their events by the snapshot only', async () => {
  const { journal } = await open();
  await journal.append(newLine('old'));
  const events: BookEvent[] = [ended('old')];
  let spooled: (() => void) | null = null;
  const replaced = journal.replace(
    () => events,
    () =>
      new Promise((resolve) => {
        spooled = resolve;
      }),
  );
  await expect.poll(() => spooled).not.toBeNull();
  const appended = journal.append(newLine('meanwhile'));
  events.push(ended('meanwhile'));
  spooled!();
  await Promise.all([replaced, appended]);
  await journal.append(newLine('after'));
  await journal.close();
  const { lines, journal: next } = await open();
  expect(lines.flatMap((each) => each.events)).toEqual([ended('old'), ended('meanwhile'), ended('after')]);
  expect(lines.flatMap((each) => each.entries)).toEqual([entry('meanwhile'), entry('after')]);
  expect(next.sizeBytes).toBe((await readFile(join(directory, 'journal.ndjson'))).length);
  await next.close();
});
