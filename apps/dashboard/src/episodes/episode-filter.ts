import type { EpisodeFilter } from '../api/episode-queries';
import { offered } from '../components/select';
import { useAddressFields } from '../components/use-address-fields';

const ANY = { value: '', label: 'Any' } as const;

/** The choices of each filter. */
export const FILTER_OPTIONS = {
  split: [
    ANY,
    { value: 'train', label: 'Train' },
    { value: 'validation', label: 'Validation' },
    { value: 'test', label: 'Test' },
  ],
  success: [ANY, { value: 'true', label: 'Success' }, { value: 'false', label: 'Failure' }],
  sealed: [ANY, { value: 'true', label: 'Ended' }, { value: 'false', label: 'In progress' }],
  endReason: [
    ANY,
    { value: 'terminated', label: 'Terminated' },
    { value: 'truncated', label: 'Truncated' },
    { value: 'abandoned', label: 'Abandoned' },
  ],
  poorer: [ANY, { value: 'true', label: 'Poorer' }, { value: 'false', label: 'As recorded' }],
  agent: [
    ANY,
    { value: 'policy', label: 'Policy' },
    { value: 'expert', label: 'Expert' },
    { value: 'random', label: 'Random' },
  ],
  sort: [
    { value: 'newest', label: 'Newest first' },
    { value: 'oldest', label: 'Oldest first' },
  ],
} as const;

type FilterName = keyof EpisodeFilter;

/** The filter in the address of the page, so that a filtered list can be shared and the back button returns to it. */
export function useEpisodeFilter() {
  const [search, change] = useAddressFields();
  const setFilter = (name: FilterName, value: string): void => {
    change({ [name]: value });
  };
  return { filter: readFilter(search), setFilter };
}

/** Reads the filter of an address; a value that its filter does not offer counts as "Any". */
export function readFilter(search: URLSearchParams): EpisodeFilter {
  const text = (name: FilterName): string | undefined => search.get(name) || undefined;
  const truth = (name: FilterName): boolean | undefined => {
    const value = text(name);
    return value === 'true' || value === 'false' ? value === 'true' : undefined;
  };
  const number = (name: FilterName): number | undefined => {
    const value = Number(text(name) ?? NaN);
    return Number.isFinite(value) ? value : undefined;
  };
  const update = text('update');
  return {
    split: offered(FILTER_OPTIONS.split, text('split')) || undefined,
    success: truth('success'),
    sealed: truth('sealed'),
    endReason: offered(FILTER_OPTIONS.endReason, text('endReason')) || undefined,
    poorer: truth('poorer'),
    agent: text('agent'),
    groupId: text('groupId'),
    update: update === undefined ? undefined : Number(update),
    tag: text('tag'),
    text: text('text'),
    minReturn: number('minReturn'),
    maxReturn: number('maxReturn'),
    minCostUsd: number('minCostUsd'),
    maxCostUsd: number('maxCostUsd'),
    startedFrom: text('startedFrom'),
    startedBefore: text('startedBefore'),
    sort: offered(FILTER_OPTIONS.sort, text('sort')) ?? 'newest',
  };
}
