import styles from './json-tree.module.css';

/** Shows a JSON value as an indented list; objects and arrays can be folded. */
export function JsonTree({ value }: { readonly value: unknown }) {
  if (isBranch(value)) return <Entries value={value} />;
  return <Leaf value={value} />;
}

function Entries({ value }: { readonly value: Branch }) {
  const entries = Object.entries(value);
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

type Branch = readonly unknown[] | Readonly<Record<string, unknown>>;

function isBranch(value: unknown): value is Branch {
  return typeof value === 'object' && value !== null;
}

function Leaf({ value }: { readonly value: unknown }) {
  return (
    <span className={styles.leaf} data-type={value === null ? 'null' : typeof value}>
      {`${value as string | number | boolean | null}`}
    </span>
  );
}
