import { useEffect, useRef } from 'react';
import { useParams, useSearchParams } from 'react-router';
import { useDeleteNotebook, useNotebook } from '../api/notebook-queries';
import { useSqlSchema } from '../api/sql-queries';
import type { NotebookDetail, SqlTable } from '../api-types/schema';
import { MOMENT_FIELD } from '../as-of/moment';
import { useOpenPage, useShownMoment } from '../as-of/shown-moment';
import controls from '../components/controls.module.css';
import { CopyLink } from '../components/copy-link';
import { Link } from '../components/link';
import { EmptyState, ErrorState, Loading } from '../components/notice';
import { useTitle } from '../components/use-title';
import { TooltipButton } from '../components/tooltip';
import { AddCell } from '../notebooks/add-cell';
import { NotebookCell } from '../notebooks/notebook-cell';
import { withChange, withMove, withoutCell } from '../notebooks/notebook-draft';
import { NotebookTitle, SavedState } from '../notebooks/notebook-head';
import styles from '../notebooks/notebook.module.css';
import { SaveFailure } from '../notebooks/save-failure';
import { useCellRunners } from '../notebooks/use-cell-runners';
import { type NotebookEditorState, useNotebookEditor } from '../notebooks/use-notebook-editor';
import { useUnsaved } from '../notebooks/use-unsaved';
import page from '../components/page.module.css';

const NO_TABLES: readonly SqlTable[] = Object.freeze([]);
/** With it an address runs all cells when it is opened. */
const RUN_FIELD = 'run';

/** One notebook: its cells, which can be changed and run. */
export function NotebookPage() {
  const { notebookId = '' } = useParams();
  const notebook = useNotebook(notebookId);
  useTitle(notebook.data?.title ?? 'Notebook');
  if (notebook.isPending) return <Loading label="Loading the notebook" />;
  if (notebook.isError)
    return <ErrorState heading="h1" error={notebook.error} onRetry={() => void notebook.refetch()} />;
  return <Notebook key={notebookId} opened={notebook.data} />;
}

function Notebook({ opened }: { readonly opened: NotebookDetail }) {
  const runners = useCellRunners();
  const tables = useSqlSchema().data ?? NO_TABLES;
  const isOfNow = useShownMoment() === null;
  const editor = useNotebookEditor(opened, isOfNow);
  const { draft, change, save } = editor;
  const addButton = useRef<HTMLButtonElement>(null);
  useRunWhenOpened(() => void runners.runAll(draft.cells));
  useSaveKey(isOfNow ? save : null);
  return (
    <>
      <Head {...{ editor, isOfNow }} />
      <div className={page.stack}>
        <Bar {...{ editor, runners, isOfNow }} />
        <SaveFailure editor={editor} />
        {draft.cells.map((cell, i) => (
          <NotebookCell
            key={cell.key}
            {...{ cell, tables, place: i + 1, numCells: draft.cells.length }}
            onChange={(changes) => {
              change((current) => withChange(current, cell.key, changes));
            }}
            onMove={(by) => {
              change((current) => withMove(current, cell.key, by));
            }}
            onDelete={() => {
              change((current) => withoutCell(current, cell.key));
              addButton.current?.focus();
            }}
            onRunner={(run) => {
              runners.setRunner(cell.key, run);
            }}
          />
        ))}
        {draft.cells.length === 0 && <EmptyState title="No cells">Add a query or a text.</EmptyState>}
        <AddCell button={addButton} numCells={draft.cells.length} onAdd={change} />
      </div>
    </>
  );
}

interface PartProps {
  readonly editor: NotebookEditorState;
  /** An earlier moment can be read and run, and not changed. */
  readonly isOfNow: boolean;
}

function Head({ editor: { base, draft, change, isUnsaved }, isOfNow }: PartProps) {
  return (
    <div className={page.head}>
      <NotebookTitle
        title={draft.title}
        canChange={isOfNow}
        onChange={(title) => {
          change((current) => ({ ...current, title }));
        }}
      />
      <SavedState savedAt={base.savedAt} revision={base.revision} isChanged={isUnsaved} />
      <span className={page.grow} />
      <Link className={controls.buttonLink} to="/sql/notebooks">
        Notebooks
      </Link>
    </div>
  );
}

function linkTo(notebookId: string, moment: string | null): string {
  const link = new URL(`/sql/notebooks/${notebookId}`, location.href);
  link.searchParams.set(RUN_FIELD, '1');
  if (moment !== null) link.searchParams.set(MOMENT_FIELD, moment);
  return link.href;
}

function Bar({
  editor: { edit, base, draft, isUnsaved, save, saving, copying },
  runners: { isRunningAll, runAll },
  isOfNow,
}: PartProps & { readonly runners: ReturnType<typeof useCellRunners> }) {
  const moment = useShownMoment();
  const remove = useDeleteNotebook(base.notebookId);
  const open = useOpenPage();
  const isLeft = [remove, copying].some(({ isPending, isSuccess }) => isPending || isSuccess);
  useUnsaved(edit, isUnsaved && !isLeft);
  const link = linkTo(base.notebookId, moment);
  return (
    <div className={styles.bar}>
      <button
        type="button"
        className={controls.primary}
        disabled={isRunningAll || draft.cells.every(({ kind }) => kind !== 'sql')}
        onClick={() => void runAll(draft.cells)}
      >
        {isRunningAll ? 'Running…' : 'Run all'}
      </button>
      {isOfNow && (
        <TooltipButton
          className={controls.button}
          tooltip="Ctrl+S"
          disabled={!isUnsaved || saving.isPending || draft.title.trim() === ''}
          onClick={save}
        >
          {saving.isPending ? 'Saving…' : 'Save'}
        </TooltipButton>
      )}
      <CopyLink
        address={link}
        label="Link to the notebook"
        title="The link opens the notebook as it is saved, and runs its cells"
      />
      <span className={styles.grow} />
      {isOfNow && (
        <button
          type="button"
          className={controls.button}
          disabled={remove.isPending}
          onClick={() => {
            if (!window.confirm(`Delete the notebook "${draft.title}"?`)) return;
            remove.mutate(base.revision, {
              onSuccess: () => {
                open('/sql/notebooks');
              },
            });
          }}
        >
          Delete
        </button>
      )}
      {remove.isError && <ErrorState error={remove.error} />}
    </div>
  );
}

/** Runs once where the address asks for it. */
function useRunWhenOpened(runAll: () => void): void {
  const [search] = useSearchParams();
  const isAsked = useRef(search.get(RUN_FIELD) === '1');
  const run = useRef(runAll);
  useEffect(() => {
    if (isAsked.current) run.current();
    isAsked.current = false;
  }, []);
}

/** Saves on Ctrl+S or Cmd+S; null leaves the keys to the browser. */
function useSaveKey(save: (() => void) | null): void {
  const newest = useRef(save);
  useEffect(() => {
    newest.current = save;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 's' || !(event.ctrlKey || event.metaKey) || newest.current === null) return;
      event.preventDefault();
      newest.current();
    };
    window.addEventListener('keydown', onKey);
    return () => {
      window.removeEventListener('keydown', onKey);
    };
  }, []);
}
