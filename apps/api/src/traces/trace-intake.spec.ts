import { appendFile, copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OtelSpan } from '@retrace/importers';
import type { WireRecord } from '@retrace/recording';
import { TraceIntake, type TraceWriter, type WriteVerdict } from './trace-intake.js';
import { TraceJournal, type JournalEntry } from './trace-journal.js';

const T = '0000000000000000000000000000000b';

function span(id: number, content?: string): OtelSpan {
  const answer = [{ role: 'assistant', parts: [{ type: 'text', content }] }];
  return {
    traceId: T,
    spanId: `${id}`,
    parentId: id === 1 ? null : '1',
    name: 'span',
    startUs: 1e15 + id,
    endUs: 1e15 + id + 100,
    attributes:
      content === undefined
        ? {}
        : { 'gen_ai.operation.name': 'chat', 'gen_ai.output.messages': JSON.stringify(answer) },
    events: [],
    isError: false,
    statusMessage: '',
    sequence: 0,
    service: '',
  };
}

/** A log that takes records, or refuses them with a verdict. */
class Writer implements TraceWriter {
  readonly written: WireRecord[][] = [];
  verdicts: WriteVerdict[] = [];

  write(_scope: string, records: readonly WireRecord[]): Promise<void> {
    const verdict = this.verdicts.shift();
    if (verdict !== undefined) return Promise.reject(new Error(verdict));
    this.written.push([...records]);
    return Promise.resolve();
  }

  verdictOf(error: unknown): WriteVerdict {
    return (error as Error).message as WriteVerdict;
  }

  get episodes(): string[] {
    return this.written.map(([{ episode }]) => episode);
  }
}

let directory: string;
let nowMs: number;
let writer: Writer;
let warnings: string[];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-intake-'));
  nowMs = 0;
  writer = new Writer();
  warnings = [];
});

afterEach(() => rm(directory, { recursive: true }));

const open = () =>
  TraceIntake.open(directory, writer, {
    idleMs: 60_000,
    nowMs: () => nowMs,
    onWarning: (message) => warnings.push(message),
  });

async function turnAt(intake: TraceIntake, ms: number): Promise<void> {
  nowMs = ms;
  await intake.turn();
}

describe('an intake of traces', () => {
  it('writes what another one has left, with the spans that it had sealed and no others', async () => {
    const first = await open();
    await first.accept('run', [span(1), span(2, 'U+2028: \u2028')]);
    writer.verdicts = ['later'];
    await turnAt(first, 3_000);
    await first.accept('run', [span(3, 'late')]);
    await first.close();
    expect(writer.written).toEqual([]);
    const second = await open();
    expect(second.numOpenTraces).toBe(2);
    await turnAt(second, 4_000);
    await turnAt(second, 70_000);
    expect(writer.episodes).toEqual([T, `${T}/late-3`]);
    expect(writer.written[0].filter(({ type }) => type === 'step')).toMatchObject([
      { messages: { output: { content: 'U+2028: \u2028' } } },
    ]);
    await second.close();
    const third = await open();
    expect(third.numOpenTraces).toBe(0);
    await third.accept('run', [span(2, 'again')]);
    expect(third.counts).toMatchObject({ numSpans: 0, numDuplicates: 1 });
    await third.close();
  });

  it('says of a trace that is over without a call of a model that it becomes no episode, counts it and logs it', async () => {
    const intake = await open();
    // A root that has not ended, and a trace with a call, may still become one.
    expect(await intake.accept('run', [{ ...span(1), endUs: undefined }, span(3)])).toEqual({
      numWithoutCall: 0,
    });
    expect(await intake.accept('run', [span(1)])).toEqual({ numWithoutCall: 1 });
    await turnAt(intake, 3_000);
    expect(intake.counts).toMatchObject({ numEpisodes: 0, numWithoutCall: 1 });
    expect(warnings).toEqual([expect.stringMatching(`^trace ${T} became no episode: no span of it is`)]);
    const other = 'b'.repeat(32);
    const spans = [span(4, 'x'), span(1)].map((each) => ({ ...each, traceId: other }));
    expect(await intake.accept('run', spans)).toEqual({ numWithoutCall: 0 });
    await turnAt(intake, 6_000);
    expect(intake.counts).toMatchObject({ numEpisodes: 1, numWithoutCall: 1 });
    await intake.close();
  });

  it('writes a trace beside the episode that another process made of its earlier spans', async () => {
    const intake = await open();
    await intake.accept('run', [span(1), span(2, 'x')]);
    writer.verdicts = ['conflict'];
    await turnAt(intake, 3_000);
    expect(writer.episodes).toEqual([`${T}/late-1`]);
    await intake.close();
  });

  it('keeps the spans of a trace that is refused in a file, with the reason', async () => {
    const intake = await open();
    await intake.accept('run', [span(1), span(2, 'x')]);
    writer.verdicts = ['refused'];
    await turnAt(intake, 3_000);
    const [name] = await readdir(join(directory, 'refused'));
    expect(JSON.parse(await readFile(join(directory, 'refused', name), 'utf8'))).toMatchObject({
      ...{ reason: 'refused', scope: 'run', spans: [{ spanId: '1' }, { spanId: '2' }] },
    });
    expect(warnings).toHaveLength(1);
    expect(intake).toMatchObject({ numOpenTraces: 0, counts: { numRefused: 1 } });
    await intake.close();
  });

  it('goes on behind a damaged record, says which, and cuts off one that was not written wholly', async () => {
    const first = await open();
    await first.accept('run', [span(1)]);
    await first.accept('other', [span(3, 'x')]);
    await first.accept('run', [span(2, 'x')]);
    await first.close();
    const [name] = await readdir(directory);
    const bytes = await readFile(join(directory, name));
    bytes[bytes.indexOf('other')] ^= 1;
    await writeFile(join(directory, name), Buffer.concat([bytes, Buffer.from('torn')]));
    const second = await open();
    expect(warnings).toEqual([
      expect.stringMatching(/^\d{3} bytes at \d{3} of .* are no whole record, and were lost$/),
      expect.stringMatching(/^4 bytes at \d{3,4} of .*, and were cut off; no span in them was confirmed/),
    ]);
    await turnAt(second, 3_000);
    expect(writer.episodes).toEqual([T]);
    await second.close();
  });

  it('takes over the files of an earlier version once, without a torn line, and says which line is damaged', async () => {
    const golden = join(import.meta.dirname, '../../../../test/golden/spools/traces.jsonl');
    const earlier = join(directory, '0000000003.jsonl');
    await copyFile(golden, earlier);
    await appendFile(earlier, '{"kind":"spans","sco\n{"kind":"spans"');
    const first = await open();
    expect(warnings.splice(0)).toEqual([expect.stringMatching(/^line 4 of .* is damaged/)]);
    expect(first.numOpenTraces).toBe(2);
    await first.close();
    expect(await readdir(directory)).toEqual(['0000000001.spool']);
    // The earlier version ran once more, and took the same spans.
    await copyFile(golden, earlier);
    const second = await open();
    await turnAt(second, 0);
    await turnAt(second, 70_000);
    expect(writer.episodes).toEqual([T, `${T}/late-3`]);
    await second.close();
  });
});

describe('the journal of traces', () => {
  it('begins another file when one is full, and removes files that nobody needs', async () => {
    let now = 0;
    const entries: JournalEntry[] = [];
    const options = { segmentBytes: 100, keepMs: 1_000, nowMs: () => now };
    const journal = await TraceJournal.open(directory, (entry) => entries.push(entry), expect.fail, options);
    const entry = { kind: 'spans' as const, scope: 'run', spans: [span(1)] };
    expect(await journal.append(entry)).toBe(1);
    expect(await journal.append(entry, entry)).toBe(2);
    expect(await journal.append(entry)).toBe(3);
    await journal.release(3);
    expect(journal.firstSegment).toBe(1);
    now = 1_000;
    await journal.release(2);
    expect(journal.firstSegment).toBe(2);
    await journal.release(Infinity);
    expect(journal.firstSegment).toBe(3);
    await journal.close();
    await (await TraceJournal.open(directory, (each) => entries.push(each), expect.fail)).close();
    expect(entries).toEqual([entry]);
  });
});
