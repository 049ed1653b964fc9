import { createWriteStream } from 'node:fs';
import { basename, resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import {
  detectFileFormat,
  EpisodeWriter,
  findImportFiles,
  FORMATS,
  type FoundFormat,
  type IdentifiedFile,
  identifyFile,
  type ImportFormat,
  importRows,
  importRunId,
  type RowOutcome,
  type StatedFacts,
  withStatedFacts,
} from '@retrace/importers';
import { poorerRecord, storableRecord, type RunRecord } from '@retrace/client';
import { readVariables } from '@retrace/process';
import { Recorder, RecordingError, readRedactionRules, redact, type WireRecord } from '@retrace/recording';
import { BackgroundSink } from '@retrace/store';
import { CliError } from '../../cli-error.js';
import type { StoreSession } from '../../services/connection.js';
import { commandEnvironment } from '../../data-directory/environment.js';
import { withStore } from '../../services/store-session.js';
import { withInterrupt } from '../../terminal/with-interrupt.js';
import type { ImportOptions } from './import-options.js';
import { importSink, type RecordRedaction } from './import-sink.js';
import { type DumpReport, printDumpReport } from './print-dump-report.js';
import { ReplayChoice } from './replay-choice.js';

/**
 * Imports files of other tools as a recorded run and prints what was taken, what was skipped and why. A second import of the same
 * content finds the run of the first, and adds nothing.
 *
 * @throws CliError `FORMAT_UNKNOWN`, `FILE_UNREADABLE` before anything changes; `NOTHING_IMPORTED` when no row could be taken; `IMPORT_DIVERGED` after the
 *   import, when an episode that was verified differs from its replay; EnvironmentError `UNKNOWN_ENVIRONMENT`
 */
export async function importDumps(path: string, options: ImportOptions): Promise<void> {
  const files = await Promise.all((await findImportFiles(path)).map(identifyFile));
  const { format, others } = await chooseFormat(path, files, options.format);
  const own = files.filter((file) => !others.includes(file));
  const redaction = await readRedaction();
  const facts = await statedFacts(options);
  const replay = options.verify === true ? new ReplayChoice(options) : null;
  const request = {
    id: importRunId(format.name, options.run ?? null, own),
    name: options.run ?? basename(resolve(path)),
    ...(options.environment === undefined ? {} : { environment: options.environment }),
    metadata: { importedAs: format.name },
  };
  try {
    const report = await withStore({ dataDir: options.dataDir, create: true }, (session) =>
      writeInto(session, request, {
        files: own,
        others,
        format,
        facts,
        replay,
        redaction,
        report: options.report,
      }),
    );
    if (options.json === true) console.log(JSON.stringify(report));
    else printDumpReport(report);
    requireOutcome(path, report);
  } finally {
    await replay?.close();
  }
}

interface ImportPlan {
  readonly files: readonly IdentifiedFile[];
  /** Files of no format, or of another one. */
  readonly others: readonly IdentifiedFile[];
  readonly format: ImportFormat;
  readonly facts: StatedFacts;
  readonly replay: ReplayChoice | null;
  readonly redaction: RecordRedaction;
  /** File for the report by rows. */
  readonly report: string | undefined;
}

async function chooseFormat(
  path: string,
  files: readonly IdentifiedFile[],
  name: string | undefined,
): Promise<Pick<ImportPlan, 'format' | 'others'>> {
  const given = FORMATS.find((format) => format.name === name);
  if (given !== undefined) return { format: given, others: [] };
  const found = await Promise.all(files.map(detectFileFormat));
  const format = found.find((each) => each.kind === 'known')?.format;
  const isOther = (each: FoundFormat) =>
    each.kind === 'unknown' || (each.kind === 'known' && each.format !== format);
  // A file that can't be read is skipped with the reason when its rows are.
  if (format !== undefined) return { format, others: files.filter((_, i) => isOther(found[i])) };
  const unreadable = found.findIndex(({ kind }) => kind === 'unreadable');
  if (found[unreadable]?.kind === 'unreadable') {
    throw new CliError('FILE_UNREADABLE', `${files[unreadable].path}: ${found[unreadable].detail}`);
  }
  const names = FORMATS.map((candidate) => candidate.name).join(', ');
  const reason =
    files.length === 0 ? 'has no .json, .jsonl or .parquet files' : 'has rows of no known format';
  throw new CliError('FORMAT_UNKNOWN', `${path} ${reason}; name the format with --format: ${names}`);
}

interface RunRequest {
  readonly id: string;
  readonly name: string;
}

async function writeInto(session: StoreSession, request: RunRequest, plan: ImportPlan): Promise<DumpReport> {
  await session.catchUp();
  if (session.isLive) return writeRows(session, request, plan);
  // The store writes what is imported while more is read, so both processes work at once.
  const sink = BackgroundSink.start(session.log, session.client);
  try {
    return await writeRows({ ...session, catchUp: () => sink.caughtUp() }, request, plan);
  } finally {
    await sink.stop();
  }
}

async function writeRows(
  { log, client, isLive, catchUp }: StoreSession,
  request: RunRequest,
  { files, others, format, facts, replay, redaction, report }: ImportPlan,
): Promise<DumpReport> {
  const recorder = await Recorder.open(log, client, { ...(!isLive && { catchUp }), ...redaction });
  const rows = report === undefined ? null : createWriteStream(report);
  try {
    await startOrFind(recorder, request);
    const counts = await withInterrupt((signal) =>
      new EpisodeWriter(importSink(recorder, request.id, { client, catchUp }, redaction), {
        signal,
        storable: (record) => {
          const { content, changes } = storableRecord(withStatedFacts(record, facts) as RunRecord);
          return { content: content as WireRecord | null, changes };
        },
        poorer: (record, { field, rule }) =>
          poorerRecord(record as RunRecord, {
            field,
            reason: `refused: ${field} ${rule}`,
          }) as WireRecord | null,
        ...(replay === null ? {} : { replayOf: (records) => replay.environmentOf(records) }),
        onRow: (outcome) => (rows === null ? undefined : writeRow(rows, outcome)),
      }).write(importRows(files, format)),
    );
    await endRun(recorder, request.id);
    await catchUp();
    const unknown = others.map(({ name }) => name);
    return {
      runId: request.id,
      name: request.name,
      format: format.name,
      numFiles: files.length,
      unknown,
      ...counts,
    };
  } finally {
    await recorder.close();
    if (rows !== null) {
      rows.end();
      await finished(rows);
    }
  }
}

/**
 * Reads the rules that hide parts of records, which the API applies, too.
 *
 * @throws RecordingError `REDACTION_RULES_INVALID`
 */
async function readRedaction(): Promise<RecordRedaction> {
  const { RETRACE_REDACTION_RULES: file } = readVariables(commandEnvironment, {
    reads: ['RETRACE_REDACTION_RULES'],
  });
  if (file === undefined || file === '') return {};
  const rules = await readRedactionRules(file);
  return { redact: (value) => redact(value, rules, () => undefined) };
}

/** Facts of tokens that the options state. @throws PolicyError when the directory has no tokenizer that can be read */
async function statedFacts({ temperature, logprobs, tokenizer }: ImportOptions): Promise<StatedFacts> {
  return {
    ...(temperature !== undefined && { temperature }),
    ...(logprobs !== undefined && { logprobMode: logprobs }),
    ...(tokenizer !== undefined && { tokenizerHash: await hashTokenizer(tokenizer) }),
  };
}

async function hashTokenizer(directory: string): Promise<string> {
  const { openPolicyText } = await import('@retrace/policy');
  return (await openPolicyText({ tokenizer: 'model', words: null, directory })).tokenizer.hash;
}

/** Another import of the same content may have had another name. */
async function startOrFind(recorder: Recorder, request: { readonly id: string }): Promise<void> {
  try {
    await recorder.startRun(request);
  } catch (error) {
    if (!(error instanceof RecordingError && error.code === 'RUN_EXISTS')) throw error;
  }
}

async function endRun(recorder: Recorder, runId: string): Promise<void> {
  await recorder.endRun(runId, { reason: 'finished' });
}

function writeRow(rows: NodeJS.WritableStream, outcome: RowOutcome): void | Promise<void> {
  if (rows.write(`${JSON.stringify(outcome)}\n`)) return undefined;
  return new Promise((written) => rows.once('drain', written));
}

function requireOutcome(path: string, { numEpisodes, verified }: DumpReport): void {
  if (numEpisodes === 0) throw new CliError('NOTHING_IMPORTED', `${path}: no row could be taken`);
  if (verified === null || verified.numDiverged === 0) return;
  const detail = 'they were imported as they are, with the tag "replay-diverged"';
  throw new CliError(
    'IMPORT_DIVERGED',
    `${verified.numDiverged} episodes differ from their replay; ${detail}`,
  );
}
