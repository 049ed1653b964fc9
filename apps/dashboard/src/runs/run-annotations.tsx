import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useShownMoment } from '../as-of/shown-moment';
import { useAnnotateRun } from '../api/annotate-run';
import type { RunDetail, RunListItem } from '../api-types/schema';
import { Badge } from '../components/badge';
import controls from '../components/controls.module.css';
import { TooltipButton } from '../components/tooltip';
import page from '../components/page.module.css';
import styles from './run-annotations.module.css';

/** Marks a run as one of the important ones; shows the mark only, for an earlier moment. */
export function StarButton({ run }: { readonly run: Pick<RunListItem, 'runId' | 'name' | 'starred'> }) {
  const annotate = useAnnotateRun(run.runId);
  const isOfNow = useShownMoment() === null;
  const starred = annotate.isPending ? annotate.variables.starred === true : run.starred;
  return (
    <>
      <button
        type="button"
        className={styles.star}
        aria-pressed={starred}
        aria-label={`Star ${run.name}`}
        aria-disabled={annotate.isPending}
        title={starred ? 'Remove the star' : 'Star this run'}
        disabled={!isOfNow}
        onClick={() => {
          if (!annotate.isPending) annotate.mutate({ starred: !run.starred });
        }}
      >
        {starred ? '★' : '☆'}
      </button>
      <Refusal error={annotate.error} />
    </>
  );
}

/** Takes a run out of the list of runs, or puts it back. */
export function ArchiveButton({ run }: { readonly run: RunDetail }) {
  const annotate = useAnnotateRun(run.runId);
  return (
    <>
      <TooltipButton
        className={controls.button}
        tooltip="The list of runs leaves archived ones out; nothing is deleted"
        aria-disabled={annotate.isPending}
        onClick={() => {
          if (!annotate.isPending) annotate.mutate({ archived: !run.archived });
        }}
      >
        {run.archived ? 'Take out of archive' : 'Archive'}
      </TooltipButton>
      <Refusal error={annotate.error} />
    </>
  );
}

function Refusal({ error }: { readonly error: Error | null }) {
  if (error === null) return null;
  return (
    <span role="alert">
      <Badge tone="bad">{error.message}</Badge>
    </span>
  );
}

interface RunNotesProps {
  readonly run: RunDetail;
  /** Not for an earlier moment. */
  readonly canChange: boolean;
}

/** Tags and notes of a run, and a form to change them. */
export function RunNotes({ run, canChange }: RunNotesProps) {
  const [isEditing, setEditing] = useState(false);
  const edit = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  useEffect(() => {
    if (!isEditing && wasEditing.current) edit.current?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);
  if (isEditing)
    return (
      <NotesForm
        run={run}
        onClose={() => {
          setEditing(false);
        }}
      />
    );
  const isEmpty = run.notes === '' && run.tags.length === 0;
  if (isEmpty && !canChange) return null;
  return (
    <section className={styles.notes} aria-label="About this run">
      {run.tags.map((tag) => (
        <Badge key={tag}>{tag}</Badge>
      ))}
      {run.notes !== '' && <p className={styles.text}>{run.notes}</p>}
      {canChange && (
        <button
          ref={edit}
          type="button"
          className={controls.plain}
          onClick={() => {
            setEditing(true);
          }}
        >
          {isEmpty ? 'Add tags or notes' : 'Edit tags and notes'}
        </button>
      )}
    </section>
  );
}

function NotesForm({ run, onClose }: { readonly run: RunDetail; readonly onClose: () => void }) {
  const [joined] = useState(() => run.tags.join(', '));
  const [tags, setTags] = useState(joined);
  const [oldNotes] = useState(run.notes);
  const [notes, setNotes] = useState(oldNotes);
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => {
    first.current?.focus();
  }, []);
  const annotate = useAnnotateRun(run.runId);
  const save = (event: FormEvent): void => {
    event.preventDefault();
    if (annotate.isPending) return;
    // What is not edited here may have been changed elsewhere meanwhile.
    const changes = {
      ...(tags !== joined && { tags: readTags(tags) }),
      ...(notes !== oldNotes && { notes }),
    };
    if (Object.keys(changes).length === 0) onClose();
    else annotate.mutate(changes, { onSuccess: onClose });
  };
  return (
    <form className={`${page.card} ${styles.form}`} aria-label="About this run" onSubmit={save}>
      <label className={controls.field}>
        Tags
        <input
          ref={first}
          className={controls.input}
          value={tags}
          readOnly={annotate.isPending}
          maxLength={4_000}
          placeholder="baseline, paper"
          onChange={(event) => {
            setTags(event.target.value);
          }}
        />
      </label>
      <label className={styles.area}>
        Notes
        <textarea
          value={notes}
          readOnly={annotate.isPending}
          maxLength={100_000}
          rows={4}
          onChange={(event) => {
            setNotes(event.target.value);
          }}
        />
      </label>
      <div className={styles.buttons}>
        <button type="submit" className={controls.primary} aria-disabled={annotate.isPending}>
          {annotate.isPending ? 'Saving …' : 'Save'}
        </button>
        <button type="button" className={controls.button} disabled={annotate.isPending} onClick={onClose}>
          Cancel
        </button>
        <Refusal error={annotate.error} />
      </div>
    </form>
  );
}

/** Tags between commas, each once. */
export function readTags(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim());
  return [...new Set(tags.filter((tag) => tag !== ''))];
}
