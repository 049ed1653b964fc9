import type { Json } from '../api/schema';
import styles from './json-tree.module.css';

/** Shows a JSON value as an indented list; objects and arrays can be folded. */
export function JsonTree({ value }: { readonly value: Json }) {
  if (isBranch(value)) return <Entries value={value} />;
  return <Leaf value={value} />;
}

function Entries({ value }: { readonly value: Branch }) {
  const entries = Object.entries(value) as [string, Json][];
  if (entries.length === 0) return <span className={styles.leaf}>{Array.isArray(value) ? '[]' : '{}'}</span>;
  return (
    <ul className={styles.entries}>
      {entries.map(([key, child]) =>
        isBranch(child) && Object.keys(child).length > 0 ? (
          <li key={key}>
            <details open>
              <summary className={styles.key}>{key}</summary>
              <Entries value={child} />
            </details>
          </li>
        ) : (
          <li key={key} className={styles.line}>
            <span className={styles.key}>{key}</span>
            <JsonTree value={child} />
          </li>
        ),
      )}
    </ul>
  );
}

type Branch = readonly Json[] | Readonly<Record<string, Json>>;

function isBranch(value: Json): value is Branch {
  return typeof value === 'object' && value !== null;
}

function Leaf({ value }: { readonly value: Exclude<Json, Branch> }) {
  return (
    <span className={styles.leaf} data-type={value === null ? 'null' : typeof value}>
      {typeof value === 'string' ? value : String(value)}
    </span>
  );
}
