import { useEffect, useRef, useState } from 'react';
import controls from '../components/controls.module.css';
import { MarkdownText } from './markdown';
import styles from './notebook.module.css';

interface TextCellProps {
  /** Name of the field for screen readers. */
  readonly label: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
}

/** A cell of text: as it reads, or as it is written. One without text is written first. */
export function TextCell({ label, text, onChange }: TextCellProps) {
  const [isEditing, setEditing] = useState(text === '');
  const field = useRef<HTMLTextAreaElement>(null);
  const edit = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(isEditing);
  useEffect(() => {
    if (isEditing !== wasEditing.current) (isEditing ? field : edit).current?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);
  return (
    <div className={styles.textCell}>
      {isEditing ? (
        <textarea
          ref={field}
          aria-label={label}
          value={text}
          rows={Math.min(20, Math.max(3, text.split('\n').length + 1))}
          placeholder="Text in Markdown"
          onChange={({ target }) => {
            onChange(target.value);
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            setEditing(false);
          }}
        />
      ) : (
        <MarkdownText text={text} />
      )}
      <button
        ref={edit}
        type="button"
        className={controls.plain}
        onClick={() => {
          setEditing(!isEditing);
        }}
      >
        {isEditing ? 'Show the text' : 'Edit the text'}
      </button>
      {isEditing && <kbd className={styles.keys}>Ctrl+Enter</kbd>}
    </div>
  );
}
