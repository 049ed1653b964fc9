import { useRef, useState, type RefObject } from 'react';
import controls from '../components/controls.module.css';
import { useNow } from '../components/use-now';
import { formatCount } from '../format/numbers';
import { formatAgo } from '../format/times';
import page from '../components/page.module.css';
import type { RanQuery, SavedQuery, useKeptQueries } from './kept-queries';
import { QueryButton } from './query-button';
import styles from './sql-sidebar.module.css';

const MAX_NAME_LENGTH = 100;
const SHOWN_CHARACTERS = 70;

interface KeptQueriesProps {
  readonly kept: ReturnType<typeof useKeptQueries>;
  /** The query that is in the editor. */
  readonly query: string;
  /** A query runs, and the next one waits for it. */
  readonly isBusy: boolean;
  readonly onPick: (query: string) => void;
}

/** The queries that this browser keeps: those that were saved, and the last ones that ran. */
export function KeptQueries({ kept, query, isBusy, onPick }: KeptQueriesProps) {
  const nameField = useRef<HTMLInputElement>(null);
  return (
    <>
      <section className={page.card} aria-label="Saved queries">
        <h2>Saved</h2>
        <ul className={styles.list}>
          {kept.saved.map((one) => (
            <Saved
              key={one.name}
              {...{ one, isBusy, onPick }}
              onForget={(name) => {
                kept.forget(name);
                nameField.current?.focus();
              }}
            />
          ))}
        </ul>
        <SaveQuery
          field={nameField}
          onSave={(name) => {
            kept.save({ name, query });
          }}
          isEmpty={query.trim() === ''}
        />
      </section>
      {kept.history.length > 0 && (
        <section className={page.card} aria-label="History">
          <h2>History</h2>
          <ul className={`${styles.list} ${styles.history}`} tabIndex={0} aria-label="Queries that ran">
            {kept.history.map((ran) => (
              <Ran key={ran.query} {...{ ran, isBusy, onPick }} />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Saved({
  one: { name, query },
  isBusy,
  onPick,
  onForget,
}: {
  readonly one: SavedQuery;
  readonly isBusy: boolean;
  readonly onPick: (query: string) => void;
  readonly onForget: (name: string) => void;
}) {
  return (
    <li className={styles.saved}>
      <QueryButton {...{ query, isBusy, onPick }}>{name}</QueryButton>
      <button
        type="button"
        className={styles.forget}
        aria-label={`Forget ${name}`}
        onClick={() => {
          onForget(name);
        }}
      >
        ×
      </button>
    </li>
  );
}

interface RanProps {
  readonly ran: RanQuery;
  readonly isBusy: boolean;
  readonly onPick: (query: string) => void;
}

function Ran({ ran, isBusy, onPick }: RanProps) {
  const nowMs = useNow(30_000);
  const { query, at, numRows } = ran;
  const text = query.trim().replaceAll(/\s+/g, ' ');
  return (
    <li>
      <QueryButton {...{ query, isBusy, onPick }}>
        <code className={styles.ran}>
          {text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text}
        </code>
        <span className={page.subtle}>
          {formatAgo(at, nowMs)} · {formatCount(numRows)} {numRows === 1 ? 'row' : 'rows'}
        </span>
      </QueryButton>
    </li>
  );
}

/** A name for the query in the editor; a name that is there already takes this query in place of its own. */
function SaveQuery({
  field,
  onSave,
  isEmpty,
}: {
  readonly field: RefObject<HTMLInputElement | null>;
  readonly onSave: (name: string) => void;
  readonly isEmpty: boolean;
}) {
  const [name, setName] = useState('');
  return (
    <form
      className={styles.save}
      onSubmit={(event) => {
        event.preventDefault();
        onSave(name.trim());
        setName('');
      }}
    >
      <input
        ref={field}
        className={controls.input}
        aria-label="Name of the query"
        placeholder="Name of the query"
        maxLength={MAX_NAME_LENGTH}
        value={name}
        onChange={({ target }) => {
          setName(target.value);
        }}
      />
      <button type="submit" className={controls.button} disabled={isEmpty || name.trim() === ''}>
        Save
      </button>
    </form>
  );
}
