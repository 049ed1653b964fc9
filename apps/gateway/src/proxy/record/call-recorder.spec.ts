import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { RecordedCall } from '@retrace/chat';
import { ApiConnection, Sender, SpoolQueue, type ChatMessage, type SpoolOptions } from '@retrace/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CallPlace } from '../episode/episode-book.js';
import { promptKeys } from '../episode/prompt-keys.js';
import { CallRecorder } from './call-recorder.js';
import { journalOnDisk } from './journal-files.fixture.js';
import { Journal } from './journal.js';

/** A record that the server took, and whether the journal had it then. */
interface TakenRecord {
  readonly type: string;
  readonly episode: string;
  readonly step?: number;
  readonly endReason?: string;
  readonly isInJournal: boolean;
}

const RUN = '00000000-0000-4000-8000-000000000001';
const FLUSH_MS = 60_000;
const SPOOL_BYTES = 8_000;

let directory: string;
let server: Server;
let taken: TakenRecord[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-recorder-'));
  taken = [];
  server = createServer((request, response) => {
    void text(request).then((body) => {
      const journal = journalOnDisk(directory).join();
      for (const line of body.split('\n').filter((json) => json !== ''))
        taken.push({ ...(JSON.parse(line) as TakenRecord), isInJournal: journal.includes(line) });
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"duplicates":0}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(directory, { recursive: true });
});

/** The methods of all open files. */
async function fileMethods(): Promise<FileHandle> {
  const handle = await open(join(directory, 'any'), 'w');
  await handle.close();
  return Object.getPrototypeOf(handle) as FileHandle;
}

/** A recorder with its journal and its sender. */
class Recording {
  private constructor(
    readonly recorder: CallRecorder,
    readonly sender: Sender,
    private readonly journal: Journal,
  ) {}

  static async open(spool: Partial<SpoolOptions> = {}, maxWaitingBytes?: number): Promise<Recording> {
    const queue = new SpoolQueue({ directory: join(directory, 'spool'), ...spool }, () => undefined);
    const { port } = server.address() as AddressInfo;
    const sender = new Sender(queue, new ApiConnection({ url: `http://127.0.0.1:${port}` }));
    const { journal, lines } = await Journal.open(directory, () => undefined, maxWaitingBytes);
    const recorder = new CallRecorder({ sender, spool: queue, journal });
    recorder.restore(lines);
    return new Recording(recorder, sender, journal);
  }

  /** Resolves once the journal has stopped to write, with what lets it go on; its file stays as it is. */
  stall(): Promise<() => void> {
    return new Promise((stalled) => {
      const hold = () =>
        new Promise<void>((_, reject) => {
          stalled(() => {
            reject(new Error('the journal is not written again'));
          });
        });
      void this.journal.replace(() => [], hold);
    });
  }

  place(prompt: readonly ChatMessage[]): CallPlace {
    return this.recorder.place(RUN, 'agent', promptKeys(prompt, false));
  }

  record(placement: CallPlace, prompt: readonly ChatMessage[], answer: string): Promise<void> {
    return this.recorder.record(placement, answered(prompt, answer), {
      headers: { group: null, groupSize: null, task: undefined, tags: [] },
      protocol: 'chat-completions',
      upstream: 'other',
      tokenizerHash: null,
      keys: promptKeys(prompt, false),
      logprobMode: null,
      firstByteMs: null,
      generationMs: 1,
      occurredAt: 1_000_000,
    });
  }

  /** Records the calls of a conversation with these answers, without waiting for one of them. */
  async recordAll(answers: readonly string[]): Promise<void> {
    await Promise.all(
      answers.map((answer, n) => {
        const prompt = promptAfter(answers.slice(0, n));
        return this.record(this.place(prompt), prompt, answer);
      }),
    );
  }

  async close(): Promise<void> {
    await this.journal.close();
    await this.sender.close(FLUSH_MS);
  }
}

function answered(prompt: readonly ChatMessage[], content: string): RecordedCall {
  return {
    model: 'm',
    prompt,
    tools: null,
    output: { role: 'assistant', content },
    otherOutputs: [],
    finishReason: 'stop',
    usage: null,
    sampling: null,
    tokens: null,
    weightVersion: null,
    responseId: null,
    error: null,
    isCut: false,
  };
}

/** The prompt of the call after those that were answered so. */
function promptAfter(answers: readonly string[]): ChatMessage[] {
  const turns = answers.map((content, n): ChatMessage[] => [
    { role: 'user', content: `question ${n}` },
    { role: 'assistant', content },
  ]);
  return [...turns.flat(), { role: 'user', content: `question ${answers.length}` }];
}

it('sends nothing of a call before the call is in the journal, and then all of it in order', async () => {
  const recording = await Recording.open();
  const goOn = await recording.stall();
  const written = recording.recordAll(['a', 'b', 'c']);
  recording.recorder.reward(RUN, 'agent', { name: 'score', value: 1 });
  recording.recorder.end(RUN, 'agent', { endReason: 'terminated' });
  await recording.sender.flush(FLUSH_MS);
  expect(taken).toEqual([]);
  expect(recording.recorder.numPending).toBe(6);
  goOn();
  await written;
  await recording.close();
  expect(taken.map(({ type, step }) => [type, step])).toEqual([
    ['episode', undefined],
    ['step', 0],
    ['step', 1],
    ['step', 2],
    ['reward', undefined],
    ['end', undefined],
  ]);
  expect(taken.filter(({ isInJournal }) => !isInJournal)).toEqual([]);
  expect(recording.recorder.numPending).toBe(0);
});

it('abandons an episode without room for a call, with the calls that were made until the journal had that one', async () => {
  const recording = await Recording.open({ maxBytes: SPOOL_BYTES });
  const answers = ['a', 'b'.repeat(SPOOL_BYTES), 'c'];
  const goOn = await recording.stall();
  const written = recording.recordAll(answers);
  const prompt = promptAfter(answers);
  const underWay = recording.place(prompt);
  expect([underWay.branch.episode, underWay.step]).toEqual(['agent', 3]);
  goOn();
  await written;
  await recording.record(underWay, prompt, 'd');
  expect(recording.recorder.numOpenEpisodes).toBe(0);
  await recording.recordAll(['e']);
  expect(recording.recorder.numLost).toBe(3);
  expect(recording.sender.stats.numDropped).toBe(3);
  await recording.close();
  expect(taken.map(({ type, step, episode }) => [type, step, episode === 'agent'])).toEqual([
    ['episode', undefined, true],
    ['step', 0, true],
    ['end', undefined, true],
    ['episode', undefined, false],
    ['step', 0, false],
  ]);
});

describe('a call that the disk refused', () => {
  let recording: Recording;
  const prompt = promptAfter(['a']);
  beforeEach(async () => {
    recording = await Recording.open();
    await recording.recordAll(['a']);
    const methods = await fileMethods();
    const failing = vi.spyOn(methods, 'write').mockRejectedValue(new Error('no space left on device'));
    await recording.record(recording.place(prompt), prompt, 'b');
    expect(recording.recorder.diskFailures.journal).toBe('no space left on device');
    failing.mockRestore();
  });

  const sentTypes = () => taken.map(({ type, step }) => [type, step]);
  const sent = [
    ['episode', undefined],
    ['step', 0],
    ['step', 1],
  ];

  async function expectNextStep(step: number): Promise<void> {
    const next = await Recording.open();
    const placement = next.place(promptAfter(['a', 'b']));
    expect([placement.branch.episode, placement.step]).toEqual(['agent', step]);
    await next.close();
  }

  it('is known after a restart, once it has taken a later record', async () => {
    recording.recorder.reward(RUN, 'agent', { name: 'score', value: 1 });
    await recording.close();
    expect(sentTypes()).toEqual([...sent, ['reward', undefined]]);
    await expectNextStep(2);
  });

  it('is known after a restart also without a later record, once the journal was tidied', async () => {
    await recording.sender.flush(FLUSH_MS);
    recording.recorder.tidy();
    await recording.close();
    expect(sentTypes()).toEqual(sent);
    await expectNextStep(2);
  });
});

it('leaves calls out while too much waits for a disk that hangs, and abandons their episodes', async () => {
  const recording = await Recording.open({}, 10_000);
  await recording.recordAll(['a']);
  const write = (await fileMethods()).write;
  let goOn = (): void => undefined;
  const hanging = vi.spyOn(await fileMethods(), 'write').mockImplementationOnce(async function (
    this: FileHandle,
    ...args: unknown[]
  ) {
    await new Promise<void>((resolve) => (goOn = resolve));
    return (write as (...all: unknown[]) => Promise<never>).apply(this, args);
  });
  const answers = ['a'];
  const recorded: Promise<void>[] = [];
  for (let n = 0; n < 5; n++) {
    const prompt = promptAfter(answers);
    answers.push(`${n}`.repeat(4_000));
    recorded.push(recording.record(recording.place(prompt), prompt, answers[n + 1]));
  }
  expect(recording.recorder).toMatchObject({ numLost: 2, numOpenEpisodes: 0 });
  expect(recording.recorder.diskFailures.journal).toMatch(/^\d+ bytes wait for the disk$/);
  expect(recording.recorder.reward(RUN, 'agent', { name: 'score', value: 1 })).toBeNull();
  expect(recording.sender.stats.numDropped).toBe(3);
  await expect.poll(() => hanging.mock.calls.length).toBe(1);
  goOn();
  await Promise.all(recorded);
  await recording.recordAll(['later']);
  await recording.close();
  expect(taken.map(({ type, step, endReason }) => [type, step ?? endReason])).toEqual([
    ['episode', undefined],
    ...[0, 1, 2, 3].map((step) => ['step', step]),
    ['end', 'abandoned'],
    ['episode', undefined],
    ['step', 0],
  ]);
});
