import type { ApiReader } from '@retrace/api';
import { CliError } from '../../cli-error.js';

const SPLITS = ['train', 'validation', 'test'] as const;
const MAX_UPDATES = 500;
/** Newest updates with their lineage, histograms and inputs. */
const MAX_DETAILED_UPDATES = 20;
const MAX_STEPS_OF_ANSWER = 500;
/** Finest first: points of each series of metrics. */
const MAX_POINTS = [1000, 250, 60] as const;
/** After so many episodes in a row that do not fit, no further one is read. */
const MAX_MISFITS = 3;
/** For what is neither an answer nor an episode. */
const FACTS_BYTES = 1_000;

/** The page of `apps/dashboard/scripts/saved-page.mjs` has this where its run belongs. */
export const RUN_MARKER = '__SAVED_RUN__';

interface List<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

interface Episode {
  readonly episodeId: string;
  readonly uses: readonly { readonly runId: string; readonly updateNumber: number }[];
  readonly steps: readonly unknown[];
  readonly nextStep: number | null;
}

/** A run as the page of `apps/dashboard/src/saved-page` reads it, which adds when and with which version it was saved. */
interface SavedRun {
  readonly runId: string;
  readonly contents: {
    readonly numEpisodesOfRun: number;
    readonly numDetailedUpdates: number;
    readonly hasAllUpdates: boolean;
    readonly numLeftOut: number;
  };
  readonly episodes: readonly Episode[];
  readonly answers: Readonly<Record<string, unknown>>;
}

interface SavedRunOptions {
  readonly runId: string;
  /** Newest episodes of each split. */
  readonly numEpisodes: number;
  /** Of `inScript` of the run; what does not fit is left out. */
  readonly maxBytes: number;
}

type Reader = Pick<ApiReader, 'get'>;

/** Bytes of a page that are left. */
class Space {
  constructor(public leftBytes: number) {}

  /** Takes the bytes of a value if they are there, and says whether they were. */
  take(value: unknown): boolean {
    const sizeBytes = measureSize(value);
    if (sizeBytes > this.leftBytes) return false;
    this.leftBytes -= sizeBytes;
    return true;
  }
}

/**
 * Reads of a run what its page shows, with the answers that the API gives to the dashboard. Updates and metrics take at most half of the page where
 * episodes are wanted: the details of updates are left out first, the oldest first, then updates, then points of metrics.
 *
 * @throws CliError `OPTION_INVALID` where not even the least of it fits
 */
export async function readSavedRun(
  api: Reader,
  { runId, numEpisodes, maxBytes }: SavedRunOptions,
): Promise<SavedRun> {
  const ofRun = `/api/runs/${runId}`;
  const forEpisodes = numEpisodes > 0 ? Math.floor(maxBytes / 2) : 0;
  const space = new Space(maxBytes - FACTS_BYTES - forEpisodes);
  const { facts, recordsTokens, numEpisodesOfRun } = await readFacts(api, ofRun);
  const metrics = await readMetrics(api, ofRun, facts, { space, forEpisodes, maxBytes });
  const updates = await readUpdates(api, ofRun, space);
  const details = await readDetails(api, ofRun, updates.items, space);
  space.leftBytes += forEpisodes;
  const wanted = await newestOfSplits(api, ofRun, numEpisodes);
  const { episodes, tokens } = await readEpisodes(api, { runId, wanted, space, recordsTokens });
  return {
    runId,
    contents: {
      numEpisodesOfRun,
      numDetailedUpdates: details.numUpdates,
      hasAllUpdates: updates.nextCursor === null,
      numLeftOut: wanted.length - episodes.length,
    },
    // Ids of episodes sort by their start.
    episodes: episodes.toSorted((a, b) => (a.episodeId < b.episodeId ? 1 : -1)),
    answers: { ...facts, ...metrics, [`${ofRun}/updates`]: updates, ...details.answers, ...tokens },
  };
}

async function readFacts(api: Reader, ofRun: string) {
  const run = await api.get<{ readonly recipe: { readonly updateTokens?: boolean } | null }>(ofRun);
  const totals = await api.get<{ readonly numEpisodes: number }>(`${ofRun}/totals`);
  const facts = {
    [ofRun]: run,
    [`${ofRun}/totals`]: totals,
    [`${ofRun}/warnings`]: await api.get(`${ofRun}/warnings?limit=500`),
    [`${ofRun}/sampling-blocks`]: await api.get(`${ofRun}/sampling-blocks?limit=1`),
    [`${ofRun}/validations`]: await api.get(`${ofRun}/validations?limit=200`),
  };
  return {
    facts,
    recordsTokens: run.recipe?.updateTokens === true,
    numEpisodesOfRun: totals.numEpisodes,
  };
}

/** The metrics, as finely as they fit beside the facts. */
async function readMetrics(
  api: Reader,
  ofRun: string,
  facts: unknown,
  { space, forEpisodes, maxBytes }: { space: Space; forEpisodes: number; maxBytes: number },
): Promise<Record<string, unknown>> {
  let neededBytes = 0;
  for (const maxPoints of MAX_POINTS) {
    const metrics = { [`${ofRun}/metrics`]: await api.get(`${ofRun}/metrics?maxPoints=${maxPoints}`) };
    if (space.take([facts, metrics])) return metrics;
    neededBytes = measureSize([facts, metrics]) + FACTS_BYTES + forEpisodes;
  }
  throw new CliError(
    'OPTION_INVALID',
    `export: the run does not fit into a page: its metrics, warnings and validations need ${neededBytes.toLocaleString('en')} bytes, and ${maxBytes.toLocaleString('en')} are free; export it without --html`,
  );
}

/** The newest updates, as many as fit. */
async function readUpdates(api: Reader, ofRun: string, space: Space) {
  const path = `${ofRun}/updates`;
  let updates = await api.get<List<{ readonly updateNumber: number }>>(`${path}?limit=${MAX_UPDATES}`);
  while (!space.take({ [path]: updates }) && updates.items.length > 0)
    updates = { items: updates.items.slice(0, Math.floor(updates.items.length / 2)), nextCursor: 'more' };
  return updates;
}

/** Lineage, histograms and inputs of the newest updates, as many as fit. */
async function readDetails(
  api: Reader,
  ofRun: string,
  updates: readonly { readonly updateNumber: number }[],
  space: Space,
) {
  const answers: Record<string, unknown> = {};
  let numUpdates = 0;
  for (const { updateNumber } of updates.slice(0, MAX_DETAILED_UPDATES)) {
    const ofUpdate = `${ofRun}/updates/${updateNumber}`;
    const details = {
      [`${ofUpdate}/lineage`]: await api.get(`${ofUpdate}/lineage`),
      [`${ofUpdate}/distributions`]: await api.get(`${ofUpdate}/distributions`),
      [`${ofUpdate}/inputs`]: await api.get(`${ofUpdate}/inputs?sort=share&order=descending&limit=100`),
    };
    if (!space.take(details)) break;
    Object.assign(answers, details);
    numUpdates++;
  }
  return { answers, numUpdates };
}

interface WantedEpisodes {
  readonly runId: string;
  readonly wanted: readonly { readonly episodeId: string }[];
  readonly space: Space;
  readonly recordsTokens: boolean;
}

/** Those episodes that fit, with the tokens that updates trained, where the recipe recorded them. One that was deleted meanwhile is left out. */
async function readEpisodes(api: Reader, { runId, wanted, space, recordsTokens }: WantedEpisodes) {
  const ofRun = `/api/runs/${runId}`;
  const episodes: Episode[] = [];
  const answers: Record<string, unknown> = {};
  let numMisfits = 0;
  for (const { episodeId } of wanted) {
    if (numMisfits === MAX_MISFITS) break;
    const tokens: Record<string, unknown> = {};
    try {
      const episode = await readEpisode(api, `${ofRun}/episodes/${episodeId}`);
      for (const use of recordsTokens ? episode.uses.filter((each) => each.runId === runId) : []) {
        const path = `${ofRun}/updates/${use.updateNumber}/inputs/${episodeId}/tokens`;
        tokens[path] = await api.get(path);
      }
      const fits = space.take([episode, tokens]);
      numMisfits = fits ? 0 : numMisfits + 1;
      if (!fits) continue;
      episodes.push(episode);
      Object.assign(answers, tokens);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'NOT_FOUND')) throw error;
    }
  }
  return { episodes, tokens: answers };
}

/** The newest episodes of each split, those of all splits in turn, so that each has some where not all fit. */
async function newestOfSplits(api: Reader, ofRun: string, numEpisodes: number) {
  const lists = await Promise.all(
    SPLITS.map((split) => newestOfSplit(api, `${ofRun}/episodes?split=${split}`, numEpisodes)),
  );
  return Array.from({ length: numEpisodes }, (_, place) =>
    lists.flatMap((list) => list.slice(place, place + 1)),
  ).flat();
}

async function newestOfSplit(api: Reader, path: string, numEpisodes: number) {
  const found: { readonly episodeId: string }[] = [];
  for (let cursor: string | null = ''; cursor !== null && found.length < numEpisodes;) {
    const limit = Math.min(500, numEpisodes - found.length);
    const after: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const page: List<{ readonly episodeId: string }> = await api.get(`${path}&limit=${limit}${after}`);
    found.push(...page.items);
    cursor = page.nextCursor;
  }
  return found;
}

/** An episode with all of its steps. */
async function readEpisode(api: Reader, path: string): Promise<Episode> {
  const first = await api.get<Episode>(`${path}?maxSteps=${MAX_STEPS_OF_ANSWER}`);
  const steps = [...first.steps];
  for (let next = first.nextStep; next !== null;) {
    const more: Episode = await api.get(`${path}?maxSteps=${MAX_STEPS_OF_ANSWER}&fromStep=${next}`);
    for (const step of more.steps) steps.push(step);
    next = more.nextStep;
  }
  return { ...first, steps, nextStep: null };
}

/** JSON that can stand in an element of a page, whatever its texts are: no `<` is in it. */
export function inScript(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', String.raw`\u003c`);
}

function measureSize(value: unknown): number {
  return Buffer.byteLength(inScript(value));
}
