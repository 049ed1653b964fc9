import {
  appendFile,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { outboxLine, type OutboxEntry } from '@retrace/client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { BookEvent } from '../episode/book-event.js';
import { journalOnDisk } from './journal-files.fixture.js';
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
const append = (journal: Journal, episode: string) => journal.append(newLine(episode), () => undefined);
const folder = () => join(directory, 'journal');
const fileText = () => journalOnDisk(directory).join();

it('gives the lines that were written to the next process, without a torn one', async () => {
  const { journal, lines } = await open();
  expect(lines).toEqual([]);
  await Promise.all([append(journal, 'a'), append(journal, 'b')]);
  await journal.close();
  await appendFile(join(folder(), '0000000001.spool'), Buffer.from([200, 0, 0, 0, 1, 2, 3, 4, 123]));
  const next = await open();
  expect(next.lines).toEqual([line('a'), line('b')]);
  await append(next.journal, 'c');
  await next.journal.close();
  const last = await open();
  expect(last.lines).toEqual([line('a'), line('b'), line('c')]);
  await last.journal.close();
});

it('reports bytes at the end of the file that are more than a torn line, and keeps the lines behind a damaged one', async () => {
  const { journal } = await open();
  await append(journal, 'a');
  await append(journal, 'b');
  await journal.close();
  const path = join(folder(), '0000000001.spool');
  const bytes = await readFile(path);
  await writeFile(path, Buffer.concat([bytes, Buffer.alloc(4096)]));
  const first = await open();
  expect(first.lines).toEqual([line('a'), line('b')]);
  await first.journal.close();
  expect(errors.splice(0)).toMatchObject([
    { message: `the last 4096 bytes of ${path} are damaged, and were cut off` },
  ]);
  // One bit of the first line's length.
  bytes[44 + 3] ^= 0x40;
  await writeFile(path, bytes);
  const second = await open();
  expect(second.lines).toEqual([line('b')]);
  await second.journal.close();
  expect(errors.splice(0)).toMatchObject([
    { message: expect.stringMatching(/^\d+ bytes of .* are damaged, and were left out$/) as string },
  ]);
});

it('keeps the entries of lines that come while it is written again, and their events by the snapshot only', async () => {
  const { journal } = await open();
  await append(journal, 'old');
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
  const appended = append(journal, 'meanwhile');
  events.push(ended('meanwhile'));
  spooled!();
  await Promise.all([replaced, appended]);
  await append(journal, 'after');
  await journal.close();
  const { lines, journal: next } = await open();
  expect(lines.flatMap((each) => each.events)).toEqual([ended('old'), ended('meanwhile'), ended('after')]);
  expect(lines.flatMap((each) => each.entries)).toEqual([entry('meanwhile'), entry('after')]);
  expect(await readdir(folder())).toEqual(['0000000002.snapshot']);
  expect(next.sizeBytes).toBe((await stat(join(folder(), '0000000002.snapshot'))).size);
  await next.close();
});

it('says that a line is written once the file has it, in the order of the lines, also while the file is written again', async () => {
  const { journal } = await open();
  const written: [string, boolean][] = [];
  const say = (episode: string) =>
    journal.append(newLine(episode), () => {
      written.push([episode, fileText().includes(outboxLine(entry(episode)).json)]);
    });
  const appended: Promise<void>[] = [];
  const replaced = journal.replace(
    () => [],
    () => {
      appended.push(say('while the file is about to be written again'));
      return Promise.resolve();
    },
  );
  await Promise.all([say('before'), replaced]);
  await Promise.all(appended);
  await Promise.all(['after', 'last'].map(say));
  await journal.close();
  expect(written).toEqual([
    ['before', true],
    ['while the file is about to be written again', true],
    ['after', true],
    ['last', true],
  ]);
});

it('keeps the events of lines that wait where the file can not be written again', async () => {
  const { journal } = await open();
  await append(journal, 'old');
  await mkdir(join(folder(), '0000000002.snapshot.new'));
  const appended: Promise<void>[] = [];
  await journal.replace(
    () => [],
    () => {
      appended.push(append(journal, 'meanwhile'));
      return Promise.resolve();
    },
  );
  await Promise.all(appended);
  await journal.close();
  expect(errors.splice(0)).toMatchObject([{ code: 'SPOOL_WRITE_FAILED', cause: { code: 'EISDIR' } }]);
  const { lines, journal: next } = await open();
  expect(lines).toEqual([line('old'), line('meanwhile')]);
  await next.close();
});

it('reports a line that the disk refuses, and goes on with what follows from it', async () => {
  const { journal } = await open();
  await journal.close();
  const goneOn: string[] = [];
  await journal.append(newLine('refused'), () => goneOn.push('refused'));
  expect(goneOn).toEqual(['refused']);
  expect(journal.failure).toMatch(/closed/);
  expect(errors.splice(0)).toHaveLength(1);
});

it('goes on with a line that is refused only after those that wait', async () => {
  const { journal } = await Journal.open(directory, (error) => errors.push(error), 100);
  const goneOn: string[] = [];
  await Promise.all(
    ['first', 'refused', 'refused too'].map((name) => journal.append(newLine(name), () => goneOn.push(name))),
  );
  expect(goneOn).toEqual(['first', 'refused', 'refused too']);
  expect(errors.splice(0)).toMatchObject([{ code: 'SPOOL_FULL' }, { code: 'SPOOL_FULL' }]);
  await journal.close();
});

it('is long again only at twice the size that it had when it was written again', async () => {
  const { journal } = await open();
  const large = (megabytes: number) => append(journal, 'x'.repeat(megabytes * 1024 ** 2));
  const spooled = () => Promise.resolve();
  await large(3);
  expect([journal.sizeBytes > 8e6, journal.isLong]).toEqual([true, true]);
  await journal.replace(() => [ended('x'.repeat(10 * 1024 ** 2))], spooled);
  expect(journal.isLong).toBe(false);
  await large(3);
  expect(journal.isLong).toBe(false);
  await large(3);
  expect(journal.isLong).toBe(true);
  await journal.replace(() => [], spooled);
  expect(journal.isLong).toBe(false);
  await journal.close();
});

it('takes over the file of an earlier version once, without a torn line', async () => {
  const earlier = join(directory, 'journal.ndjson');
  const golden = join(import.meta.dirname, '../../../../../test/golden/spools/proxy-journal.ndjson');
  const reward = { type: 'reward', name: 'score', value: 0.5 };
  const run = '01890000-0000-7000-8000-000000000000';
  const lines = ['one', 'zwei é'].map((episode) => ({
    events: [{ type: 'end', run, episode }],
    entries: [{ kind: 'record', run, content: { ...reward, id: `reward-of-${episode}`, episode } }],
  }));
  await copyFile(golden, earlier);
  await appendFile(earlier, '{"events":[{"type":"en');
  const first = await open();
  expect(first.lines).toEqual(lines);
  await append(first.journal, 'later');
  await first.journal.close();
  expect(await readdir(directory)).toEqual(['journal']);
  // The earlier version ran once more, and wrote its file again.
  await copyFile(golden, earlier);
  const next = await open();
  expect(next.lines).toEqual([...lines, line('later'), ...lines]);
  await next.journal.close();
  expect(await readdir(directory)).toEqual(['journal']);
});
