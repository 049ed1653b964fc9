import { useEffect, useRef, useState } from 'react';
import { useNow } from '../components/use-now';
import controls from '../components/controls.module.css';
import { formatAgo } from '../format/times';
import page from '../components/page.module.css';
import styles from './notebook.module.css';

const MAX_TITLE_LENGTH = 200;

interface TitleProps {
  readonly title: string;
  readonly canChange: boolean;
  readonly onChange: (title: string) => void;
}

/** The title as the heading of the page, or in a field. */
export function NotebookTitle({ title, canChange, onChange }: TitleProps) {
  const [isEditing, setEditing] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const rename = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  useEffect(() => {
    if (isEditing !== wasEditing.current) (isEditing ? field : rename).current?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);
  const finish = (): void => {
    setEditing(title.trim() === '');
  };
  return (
    <>
      <h1 className={isEditing ? 'visually-hidden' : undefined}>{title || 'Untitled'}</h1>
      {isEditing ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            finish();
          }}
        >
          <input
            ref={field}
            className={`${controls.input} ${styles.title}`}
            aria-label="Title"
            value={title}
            maxLength={MAX_TITLE_LENGTH}
            required
            onChange={({ target }) => {
              onChange(target.value);
            }}
            onBlur={finish}
          />
        </form>
      ) : (
        canChange && (
          <button
            ref={rename}
            type="button"
            className={controls.plain}
            onClick={() => {
              setEditing(true);
            }}
          >
            Rename
          </button>
        )
      )}
    </>
  );
}

interface SavedStateProps {
  readonly savedAt: string;
  readonly revision: number;
  readonly isChanged: boolean;
}

/** Whether what is shown is what is stored. */
export function SavedState({ savedAt, revision, isChanged }: SavedStateProps) {
  const nowMs = useNow(30_000);
  return (
    <span className={page.subtle} role="status">
      {isChanged ? 'Not saved' : `Revision ${revision}, saved ${formatAgo(savedAt, nowMs)}`}
    </span>
  );
}
