import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { CliError } from '../../cli-error.js';
import { installation, readVersion } from '../../installation.js';
import type { CommonOptions } from '../../options.js';
import { findRunId } from '../../run/find-run.js';
import { withApiReader } from '../../services/api-reader.js';
import type { StoreSession } from '../../services/connection.js';
import { withStore } from '../../services/store-session.js';
import { inScript, readSavedRun, RUN_MARKER } from './saved-run.js';

const MAX_PAGE_BYTES = 20_000_000;

interface ExportPageOptions extends CommonOptions {
  readonly run: string;
  readonly output: string;
  /** Newest episodes of each split. */
  readonly episodes: number;
}

/** Writes a run as a page that a browser opens without a server, and prints how much of the run is in it. */
export async function exportRunToPage(options: ExportPageOptions): Promise<void> {
  const { dataDir, json, output } = options;
  const { before, after } = await readPage();
  const saved = await withStore({ dataDir }, (session) =>
    read(session, options, MAX_PAGE_BYTES - Buffer.byteLength(before + after)),
  );
  const page = `${before}${inScript(saved)}${after}`;
  await writeWhole(output, page);
  const { runId, episodes, contents } = saved;
  const sizeBytes = Buffer.byteLength(page);
  const { numEpisodesOfRun, numLeftOut } = contents;
  if (json === true) {
    console.log(
      JSON.stringify({ runId, numEpisodes: episodes.length, numEpisodesOfRun, numLeftOut, sizeBytes }),
    );
    return;
  }
  console.log(
    `run ${runId}: ${episodes.length.toLocaleString('en')} of ${numEpisodesOfRun.toLocaleString('en')} episodes in ${output} (${(sizeBytes / 1e6).toFixed(1)} MB)` +
      (numLeftOut === 0 ? '' : `; left out ${numLeftOut} more, which did not fit`),
  );
}

/** @throws CliError `FILE_NOT_FOUND`, `FILE_UNREADABLE` */
async function readPage() {
  const page = await readFile(installation.savedPage, 'utf8').catch((cause: unknown) => {
    throw new CliError('FILE_NOT_FOUND', 'export: the page is not built yet; run "npm run build"', { cause });
  });
  const [before, after] = page.split(RUN_MARKER);
  if (after === undefined)
    throw new CliError(
      'FILE_UNREADABLE',
      `export: the page has no place for a run, ${RUN_MARKER}; run "npm run build"`,
    );
  return { before, after };
}

/** Replaces the file once all is on disk. A failure leaves no other file. */
async function writeWhole(path: string, text: string): Promise<void> {
  const partial = `${path}.${process.pid}.partial`;
  try {
    await writeFile(partial, text, { flush: true });
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function read(session: StoreSession, { dataDir, run, episodes }: ExportPageOptions, maxBytes: number) {
  const runId = await findRunId(session.log, run);
  await session.catchUp();
  return withApiReader(session, dataDir, async (api) => {
    const saved = await readSavedRun(api, { runId, numEpisodes: episodes, maxBytes });
    // Last, as the store goes on meanwhile: what is in the page was there by then.
    return { ...saved, savedAt: new Date().toISOString(), version: readVersion() };
  });
}
