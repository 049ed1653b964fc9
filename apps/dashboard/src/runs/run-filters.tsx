import type { RunFilter } from '../api/queries';
import { SearchField } from '../components/search-field';
import { Select } from '../components/select';
import page from '../components/page.module.css';
import { RUN_FILTER_OPTIONS, type RunFilterName } from './run-filter';

interface RunFiltersProps {
  readonly filter: RunFilter;
  readonly setFilter: (name: RunFilterName, value: string) => void;
}

/** Which runs the list has. */
export function RunFilters({ filter, setFilter }: RunFiltersProps) {
  const select = (name: keyof typeof RUN_FILTER_OPTIONS) => ({
    options: RUN_FILTER_OPTIONS[name],
    value: `${filter[name] ?? ''}`,
    onChange: (value: string) => {
      setFilter(name, value);
    },
  });
  const field = (name: 'search' | 'tag') => ({
    value: filter[name] ?? '',
    onCommit: (value: string) => {
      setFilter(name, value.trim());
    },
  });
  return (
    <div className={page.filters}>
      <SearchField label="Search" type="search" {...field('search')} />
      <Select label="Status" {...select('status')} />
      <Select label="Kind" {...select('kind')} />
      <Select label="Star" {...select('starred')} />
      <Select label="Archived" {...select('archived')} />
      <SearchField label="Tag" type="search" {...field('tag')} />
    </div>
  );
}
