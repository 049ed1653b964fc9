import type { EpisodeFilter } from '../api/episode-queries';
import { SearchField, type FieldState } from '../components/search-field';

type SearchName =
  | 'text'
  | 'tag'
  | 'minReturn'
  | 'maxReturn'
  | 'minCostUsd'
  | 'maxCostUsd'
  | 'startedFrom'
  | 'startedBefore';

interface SearchFieldsProps {
  readonly filter: EpisodeFilter;
  readonly setFilter: (name: SearchName, value: string) => void;
}

/** Fields of the list of episodes that take what is typed; each applies when it loses the focus, or on Enter. */
export function SearchFields({ filter, setFilter }: SearchFieldsProps) {
  const field = (name: SearchName) => ({
    value: `${filter[name] ?? ''}`,
    onCommit: (value: string) => {
      setFilter(name, value);
    },
  });
  return (
    <>
      <SearchField label="Text" type="search" {...field('text')} />
      <SearchField label="Tag" type="search" {...field('tag')} />
      <SearchField label="Return from" type="number" {...field('minReturn')} />
      <SearchField label="to" type="number" {...field('maxReturn')} />
      <SearchField label="Cost from $" type="number" {...field('minCostUsd')} />
      <SearchField label="up to $" type="number" {...field('maxCostUsd')} />
      <SearchField label="Started from" type="datetime-local" {...timeField(field('startedFrom'))} />
      <SearchField label="before" type="datetime-local" {...timeField(field('startedBefore'))} />
    </>
  );
}

/** The address has the time with its zone, and the field shows it in the reader's own. */
function timeField({ value, onCommit }: FieldState): FieldState {
  return {
    value: value === '' || Number.isNaN(Date.parse(value)) ? '' : localTime(new Date(value)),
    onCommit: (local) => {
      onCommit(local === '' ? '' : new Date(local).toISOString());
    },
  };
}

function localTime(time: Date): string {
  const shifted = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}
