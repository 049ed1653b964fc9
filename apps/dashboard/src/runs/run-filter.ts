import type { RunFilter } from '../api/queries';
import { offered } from '../components/select';
import type { TableSort } from '../components/table-model';
import { useAddressFields } from '../components/use-address-fields';

const ANY = { value: '', label: 'Any' } as const;

/** The choices of each filter of the list of runs. */
export const RUN_FILTER_OPTIONS = {
  status: [
    ANY,
    { value: 'running', label: 'Running' },
    { value: 'idle', label: 'Idle' },
    { value: 'finished', label: 'Finished' },
    { value: 'stopped', label: 'Stopped' },
    { value: 'failed', label: 'Failed' },
  ],
  kind: [ANY, { value: 'trained', label: 'Trained' }, { value: 'recorded', label: 'Recorded' }],
  starred: [ANY, { value: 'true', label: 'Starred' }, { value: 'false', label: 'Without a star' }],
  archived: [
    { value: '', label: 'No' },
    { value: 'only', label: 'Only' },
    { value: 'all', label: 'Also' },
  ],
} as const;

export type RunFilterName = 'search' | 'tag' | keyof typeof RUN_FILTER_OPTIONS;

const MAX_LENGTH = 200;
const MAX_TAG_LENGTH = 256;

const STARRED = { '': undefined, true: true, false: false } as const;

/** Before the name of a metric, in the key of a sort. */
const METRIC = 'metric:';

/** The filter in the address of the page, so that a filtered list can be shared and the back button returns to it. */
export function useRunFilter() {
  const [search, change] = useAddressFields();
  return {
    filter: readRunFilter(search),
    setFilter: (name: RunFilterName, value: string) => {
      change({ [name]: value });
    },
    setSort: ({ key, order }: TableSort) => {
      const metric = key.startsWith(METRIC) ? key.slice(METRIC.length) : '';
      change({ sort: metric === '' ? key : 'metric', metric, order });
    },
  };
}

/** Reads the filter of an address; a value that its filter does not offer counts as "Any". */
export function readRunFilter(search: URLSearchParams): RunFilter {
  // The API refuses more.
  const text = (name: string): string | undefined => search.get(name)?.slice(0, MAX_LENGTH) || undefined;
  const metric = text('metric');
  const isByMetric = search.get('sort') === 'metric' && metric !== undefined;
  return {
    search: text('search'),
    status: offered(RUN_FILTER_OPTIONS.status, text('status')) || undefined,
    kind: offered(RUN_FILTER_OPTIONS.kind, text('kind')) || undefined,
    starred: STARRED[offered(RUN_FILTER_OPTIONS.starred, text('starred')) ?? ''],
    archived: offered(RUN_FILTER_OPTIONS.archived, text('archived')) || undefined,
    tag: search.get('tag')?.slice(0, MAX_TAG_LENGTH) || undefined,
    sort: isByMetric ? 'metric' : search.get('sort') === 'name' ? 'name' : 'started',
    metric: isByMetric ? metric : undefined,
    order: search.get('order') === 'ascending' ? 'ascending' : 'descending',
  };
}

/** How the table shows the sort of a filter. */
export function readSort({ sort = 'started', metric = '', order = 'descending' }: RunFilter): TableSort {
  return { key: sort === 'metric' ? metricSort(metric) : sort, order };
}

/** Key of the sort by the newest value of a metric. */
export function metricSort(metric: string): string {
  return `${METRIC}${metric}`;
}

/** Whether some runs are left out. */
export function leavesOut({ search, status, kind, tag, starred, archived }: RunFilter): boolean {
  return [search, status, kind, tag, starred].some((value) => value !== undefined) || archived === 'only';
}
