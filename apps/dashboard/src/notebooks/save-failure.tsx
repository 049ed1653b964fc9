import { useOpenPage } from '../as-of/shown-moment';
import { ApiProblem } from '../api/api-problem';
import controls from '../components/controls.module.css';
import { ErrorState } from '../components/notice';
import { useNow } from '../components/use-now';
import { formatAgo } from '../format/times';
import page from '../components/page.module.css';
import { toContent } from './notebook-draft';
import styles from './notebook.module.css';
import { isConflict, type NotebookEditorState } from './use-notebook-editor';

interface SaveFailureProps {
  readonly editor: NotebookEditorState;
}

/** Why the notebook was not saved, and what to do where others saved or deleted it meanwhile. */
export function SaveFailure({ editor }: SaveFailureProps) {
  const { saving, theirs } = editor;
  if (saving.error === null) return null;
  const isGone = [saving.error, theirs.error].some(isNotFound);
  return (
    <>
      <ErrorState error={saving.error} />
      {isGone ? <SaveAsNew {...{ editor }} /> : isConflict(saving.error) && <Choice {...{ editor }} />}
    </>
  );
}

function isNotFound(error: Error | null): boolean {
  return error instanceof ApiProblem && error.status === 404;
}

function Choice({ editor: { theirs, takeTheirs, saveOver } }: SaveFailureProps) {
  const nowMs = useNow(30_000);
  const { data, error } = theirs;
  if (error !== null)
    return (
      <ErrorState
        error={error}
        onRetry={() => {
          theirs.mutate();
        }}
      />
    );
  if (data === undefined)
    return (
      <p className={page.subtle} role="status">
        Reading what others saved…
      </p>
    );
  return (
    <div className={styles.bar}>
      <span className={page.subtle}>
        Revision {data.revision}, saved {formatAgo(data.savedAt, nowMs)}:
      </span>
      <button
        type="button"
        className={controls.button}
        onClick={() => {
          takeTheirs(data);
        }}
      >
        Discard my changes and show theirs
      </button>
      <button
        type="button"
        className={controls.button}
        onClick={() => {
          saveOver(data.revision);
        }}
      >
        Save mine in place of theirs
      </button>
    </div>
  );
}

function SaveAsNew({ editor: { copying, draft } }: SaveFailureProps) {
  const open = useOpenPage();
  return (
    <>
      <div className={styles.bar}>
        <button
          type="button"
          className={controls.button}
          disabled={copying.isPending}
          onClick={() => {
            copying.mutate(toContent(draft), {
              onSuccess: ({ notebookId }) => {
                open(`/sql/notebooks/${notebookId}`);
              },
            });
          }}
        >
          Save as a new notebook
        </button>
      </div>
      {copying.error !== null && <ErrorState error={copying.error} />}
    </>
  );
}
