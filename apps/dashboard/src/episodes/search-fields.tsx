import { useState } from 'react';
import type { EpisodeFilter } from '../api/queries';
import controls from '../components/controls.module.css';

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

interface FieldState {
  readonly value: string;
  readonly onCommit: (value: string) => void;
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

interface SearchFieldProps extends FieldState {
  readonly label: string;
  readonly type: 'search' | 'number' | 'datetime-local';
}

function SearchField({ label, type, value, onCommit }: SearchFieldProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const commit = (): void => {
    if (typed !== null && typed !== value) onCommit(typed);
    setTyped(null);
  };
  return (
    <label className={controls.field}>
      {label}
      <input
        className={controls.input}
        type={type}
        step="any"
        maxLength={200}
        value={typed ?? value}
        onChange={(event) => {
          setTyped(event.target.value);
        }}
        onBlur={commit}
        onKeyDown={(event) => {
          if (event.key === 'Enter') commit();
        }}
      />
    </label>
  );
}
