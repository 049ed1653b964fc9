import type { MetricSeriesList, Update, UpdateInput } from '../api-types/schema';
import type { SavedRun } from '../as-of/saved-run';
import { selectEpisodes } from './select-episodes';

const UPDATE = /\/updates\/\d+$/;
const INPUTS = /\/updates\/\d+\/inputs$/;
const TOKENS = /\/updates\/\d+\/inputs\/([^/]+)\/tokens$/;

/** Fields of the episodes of an update by the word for it in the API (`INPUT_SORTS` there). */
const SORT_FIELDS: Readonly<Record<string, keyof UpdateInput>> = {
  batch: 'place',
  share: 'share',
  return: 'return',
  age: 'age',
  advantage: 'advantageMean',
  weight: 'weight',
  ratio: 'ratio',
  tokens: 'numTokens',
};

/** Answers a request to the API from what the page was saved with; 404 for what is not in it. */
export function answerFromPage(run: SavedRun, request: Pick<Request, 'url' | 'method'>): Response {
  const { pathname, searchParams: query } = new URL(request.url);
  // On Windows the drive of the file comes first: `/C:/api/runs/…`.
  const path = decodeURIComponent(pathname.slice(pathname.indexOf('/api/')));
  const answer = request.method === 'GET' ? find(run, path, query) : undefined;
  if (answer !== undefined) return Response.json(answer);
  const problem = {
    code: 'NOT_IN_PAGE',
    title: 'Not in this page',
    detail: `This page is a copy of a part of run ${run.runId}; Retrace itself shows the rest.`,
  };
  return Response.json(problem, { status: 404 });
}

function find({ runId, answers, episodes }: SavedRun, path: string, query: URLSearchParams): unknown {
  const ofRun = `/api/runs/${runId}`;
  if (path === `${ofRun}/episodes`) return readPage(selectEpisodes(episodes, query), query);
  const episode = episodes.find(({ episodeId }) => path === `${ofRun}/episodes/${episodeId}`);
  if (episode !== undefined) return episode;
  const answer = answers[path];
  if (UPDATE.test(path)) {
    const updates = answers[`${ofRun}/updates`];
    return isList(updates)
      ? (updates.items as Update[]).find(({ updateNumber }) => path === `${ofRun}/updates/${updateNumber}`)
      : undefined;
  }
  // An episode in the page has the tokens of all updates that recorded them.
  const [, ofEpisode] = TOKENS.exec(path) ?? [];
  if (answer === undefined && episodes.some(({ episodeId }) => episodeId === ofEpisode)) return { steps: [] };
  if (path === `${ofRun}/metrics`) return selectSeries(answer as MetricSeriesList, query);
  if (INPUTS.test(path) && isList(answer))
    return readPage(sortInputs(answer.items as UpdateInput[], query), query);
  return isList(answer) ? readPage(answer.items, query) : answer;
}

function isList(answer: unknown): answer is { readonly items: readonly unknown[] } {
  return typeof answer === 'object' && answer !== null && 'items' in answer;
}

/** Its cursors are places in the list. */
function readPage(items: readonly unknown[], query: URLSearchParams) {
  const from = Number(query.get('cursor') ?? 0);
  const to = from + Number(query.get('limit') ?? items.length);
  return { items: items.slice(from, to), nextCursor: to < items.length ? `${to}` : null };
}

function selectSeries({ series }: MetricSeriesList, query: URLSearchParams): MetricSeriesList {
  const names = query.get('names')?.split(',');
  return { series: series.filter(({ name }) => names?.includes(name) ?? true) };
}

/** Episodes without a value come last in either order. */
function sortInputs(inputs: readonly UpdateInput[], query: URLSearchParams): UpdateInput[] {
  const field = SORT_FIELDS[query.get('sort') ?? 'batch'] ?? 'place';
  const sign = query.get('order') === 'descending' ? -1 : 1;
  const success = query.get('success');
  const valueOf = (input: UpdateInput): number =>
    (input[field] as number | null) ?? sign * Number.POSITIVE_INFINITY;
  return inputs
    .filter((input) => success === null || `${input.success}` === success)
    .toSorted((a, b) => (valueOf(a) === valueOf(b) ? a.place - b.place : sign * (valueOf(a) - valueOf(b))));
}
