import { type FormEvent, useState } from 'react';
import { useHref } from 'react-router';
import { useNamedMoment } from '../as-of/shown-moment';
import { withMoment } from '../as-of/moment';
import controls from '../components/controls.module.css';
import { CopyLink } from '../components/copy-link';
import { Select } from '../components/select';
import page from '../pages/page.module.css';
import { openedRun } from '../saved-page/saved-run';
import { writeView, type ExplorerView } from './explorer-view';
import { useLayouts } from './use-explorer';
import { MAX_USER_METRICS } from './user-metric';

const MAX_NAME_LENGTH = 60;

interface LayoutBarProps {
  readonly view: ExplorerView;
  readonly onChange: (view: ExplorerView) => void;
  readonly onAddMetric: () => void;
}

/** Names the view, and shows one that has a name. */
export function LayoutBar({ view, onChange, onAddMetric }: LayoutBarProps) {
  const { layouts, shown, choose, save, rename, remove } = useLayouts(view, onChange);
  const [isNaming, setNaming] = useState<'save' | 'rename' | null>(null);
  const options = [
    { value: '', label: 'none' },
    ...layouts.map(({ name }) => ({ value: name, label: name })),
  ];
  return (
    <div className={page.filters} role="group" aria-label="Layouts">
      <Select label="Layout" value={shown ?? ''} options={options} onChange={choose} />
      {isNaming === null ? (
        <>
          <button type="button" className={controls.button} onClick={() => setNaming('save')}>
            Save layout
          </button>
          {shown !== null && (
            <>
              <button type="button" className={controls.button} onClick={() => setNaming('rename')}>
                Rename
              </button>
              <button type="button" className={controls.button} onClick={() => remove(shown)}>
                Delete
              </button>
            </>
          )}
        </>
      ) : (
        <NameForm
          action={isNaming === 'save' ? 'Save' : 'Rename'}
          initial={shown ?? ''}
          onName={(name) => {
            if (isNaming === 'save') save(name);
            else rename(shown ?? '', name);
            setNaming(null);
          }}
          onCancel={() => setNaming(null)}
        />
      )}
      {openedRun() === null && (
        <>
          <ShareView view={view} />
          {(view.metrics?.length ?? 0) < MAX_USER_METRICS && (
            <button type="button" className={controls.button} onClick={onAddMetric}>
              Metric by SQL
            </button>
          )}
        </>
      )}
    </div>
  );
}

/** The address with everything that the view needs, the pins and metrics of this browser too. */
function ShareView({ view }: { readonly view: ExplorerView }) {
  const moment = useNamedMoment();
  const path = useHref(withMoment({ search: `?${writeView(view).toString()}` }, moment));
  return (
    <CopyLink
      address={`${window.location.origin}${path}`}
      label="Link to the view"
      title="The link opens this view, with its pins and metrics by SQL, in any browser"
    />
  );
}

interface NameFormProps {
  readonly action: string;
  readonly initial: string;
  readonly onName: (name: string) => void;
  readonly onCancel: () => void;
}

function NameForm({ action, initial, onName, onCancel }: NameFormProps) {
  const [name, setName] = useState(initial);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onName(name.trim());
  };
  return (
    <form className={controls.field} onSubmit={submit}>
      <input
        className={controls.input}
        aria-label="Name of the layout"
        placeholder="Name of the layout"
        maxLength={MAX_NAME_LENGTH}
        autoFocus
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <button type="submit" className={controls.primary} disabled={name.trim() === ''}>
        {action}
      </button>
      <button type="button" className={controls.button} onClick={onCancel}>
        Cancel
      </button>
    </form>
  );
}
