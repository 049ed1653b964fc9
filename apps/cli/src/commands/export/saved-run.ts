import type { ApiReader } from '@retrace/api';

const SPLITS = ['train', 'validation', 'test'] as const;
const MAX_UPDATES = 500;
/** Newest updates with their lineage, histograms and inputs. */
const MAX_DETAILED_UPDATES = 20;
const MAX_STEPS_OF_ANSWER = 500;
/** With less space left no further episode is read. */
const FULL_BYTES = 16_384;

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

/** A run as the page of `apps/dashboard/src/saved-page` reads it. */
interface SavedRun {
  readonly runId: string;
  readonly savedAt: string;
  readonly version: string;
  readonly contents: {
    readonly numEpisodesOfRun: number;
    readonly numDetailedUpdates: number;
    readonly hasAllUpdates: boolean;
    readonly numTooLarge: number;
  };
  readonly episodes: readonly Episode[];
  readonly answers: Readonly<Record<string, unknown>>;
}

interface SavedRunOptions {
  readonly runId: string;
  /** Newest episodes of each split. */
  readonly numEpisodes: number;
  /** Of `inScript` of the run; episodes that do not fit are left out. */
  readonly maxBytes: number;
  /** ISO 8601. */
  readonly savedAt: string;
  readonly version: string;
}

/** Reads of a run what its page shows, with the answers that the API gives to the dashboard. */
export async function readSavedRun(
  api: Pick<ApiReader, 'get'>,
  { runId, numEpisodes, maxBytes, ...facts }: SavedRunOptions,
): Promise<SavedRun> {
  const ofRun = `/api/runs/${runId}`;
  const answers: Record<string, unknown> = {};
  const ask = async <Answer>(path: string, query = ''): Promise<Answer> => {
    const answer = await api.get<Answer>(`${path}${query}`);
    answers[path] = answer;
    return answer;
  };
  const { recipe } = await ask<{ readonly recipe: { readonly updateTokens?: boolean } | null }>(ofRun);
  const { numEpisodes: numEpisodesOfRun } = await ask<{ readonly numEpisodes: number }>(`${ofRun}/totals`);
  await ask(`${ofRun}/metrics`, '?maxPoints=1000');
  await ask(`${ofRun}/warnings`, '?limit=500');
  await ask(`${ofRun}/sampling-blocks`, '?limit=1');
  await ask(`${ofRun}/validations`, '?limit=200');
  const updates = await ask<List<{ readonly updateNumber: number }>>(
    `${ofRun}/updates`,
    `?limit=${MAX_UPDATES}`,
  );
  const detailed = updates.items.slice(0, MAX_DETAILED_UPDATES);
  for (const { updateNumber } of detailed) {
    const ofUpdate = `${ofRun}/updates/${updateNumber}`;
    await ask(`${ofUpdate}/lineage`);
    await ask(`${ofUpdate}/distributions`);
    await ask(`${ofUpdate}/inputs`, '?sort=share&order=descending&limit=100');
  }

  const wanted = await newestOfSplits(api, ofRun, numEpisodes);
  const episodes: Episode[] = [];
  let leftBytes = maxBytes - sizeOf(answers);
  for (const { episodeId } of wanted) {
    if (leftBytes < FULL_BYTES) break;
    const episode = await readEpisode(api, `${ofRun}/episodes/${episodeId}`);
    const tokens: Record<string, unknown> = {};
    for (const { updateNumber } of episode.uses.filter((use) => use.runId === runId)) {
      const path = `${ofRun}/updates/${updateNumber}/inputs/${episodeId}/tokens`;
      tokens[path] = recipe?.updateTokens === true ? await api.get(path) : { steps: [] };
    }
    const sizeBytes = sizeOf([episode, tokens]);
    if (sizeBytes > leftBytes) continue;
    leftBytes -= sizeBytes;
    episodes.push(episode);
    Object.assign(answers, tokens);
  }
  return {
    runId,
    ...facts,
    contents: {
      numEpisodesOfRun,
      numDetailedUpdates: detailed.length,
      hasAllUpdates: updates.nextCursor === null,
      numTooLarge: wanted.length - episodes.length,
    },
    // Ids of episodes sort by their start.
    episodes: episodes.toSorted((a, b) => (a.episodeId < b.episodeId ? 1 : -1)),
    answers,
  };
}

/** The newest episodes of each split, those of all splits in turn, so that each has some where not all fit. */
async function newestOfSplits(api: Pick<ApiReader, 'get'>, ofRun: string, numEpisodes: number) {
  const lists = await Promise.all(
    SPLITS.map((split) => newestOfSplit(api, `${ofRun}/episodes?split=${split}`, numEpisodes)),
  );
  return Array.from({ length: numEpisodes }, (_, place) =>
    lists.flatMap((list) => list.slice(place, place + 1)),
  ).flat();
}

async function newestOfSplit(api: Pick<ApiReader, 'get'>, path: string, numEpisodes: number) {
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
async function readEpisode(api: Pick<ApiReader, 'get'>, path: string): Promise<Episode> {
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

function sizeOf(value: unknown): number {
  return Buffer.byteLength(inScript(value));
}
