import { type FormEvent, useState } from 'react';
import { useHref } from 'react-router';
import { useNamedMoment } from '../as-of/shown-moment';
import { withMoment } from '../as-of/moment';
import controls from '../components/controls.module.css';
import { CopyLink } from '../components/copy-link';
import { Select } from '../components/select';
import { TooltipButton } from '../components/tooltip';
import page from '../components/page.module.css';
import { openedRun } from '../as-of/saved-run';
import { lengthFault, writeView, type ExplorerView } from './explorer-view';
import { useLayouts } from './use-explorer';
import { MAX_USER_METRICS } from './user-metric';

const MAX_NAME_LENGTH = 60;

interface LayoutBarProps {
  readonly view: ExplorerView;
  /** Whether the address names pins or metrics, in place of those of this browser. */
  readonly isNamed: boolean;
  readonly onChange: (view: ExplorerView) => void;
  readonly onAddMetric: () => void;
}

/** Names the view, and shows one that has a name. */
export function LayoutBar({ view, isNamed, onChange, onAddMetric }: LayoutBarProps) {
  return (
    <div className={page.filters} role="group" aria-label="Layouts">
      <Layouts view={view} onChange={onChange} />
      {isNamed && (
        <TooltipButton
          className={controls.button}
          tooltip="The pins and metrics by SQL of this browser, in place of those of the layout or link"
          onClick={() => onChange({ ...view, pins: null, metrics: null })}
        >
          My own view
        </TooltipButton>
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

function Layouts({ view, onChange }: Pick<LayoutBarProps, 'view' | 'onChange'>) {
  const { layouts, shown, changed, choose, save, rename, remove } = useLayouts(view, onChange);
  const [naming, setNaming] = useState<'save' | 'rename' | 'named' | null>(null);
  const options = [
    { value: '', label: 'none' },
    ...layouts.map(({ name }) => ({ value: name, label: name })),
  ];
  const fault = lengthFault(view);
  return (
    <>
      <Select label="Layout" value={shown ?? ''} options={options} onChange={choose} />
      {fault !== null && <p className={page.subtle}>{fault}</p>}
      {fault === null && (naming === 'save' || naming === 'rename') ? (
        <NameForm
          action={naming === 'save' ? 'Save' : 'Rename'}
          initial={naming === 'save' ? '' : (shown ?? '')}
          taken={layouts.map(({ name }) => name)}
          onName={(name) => {
            if (naming === 'save') save(name);
            else rename(shown ?? '', name);
            setNaming('named');
          }}
          onCancel={() => setNaming('named')}
        />
      ) : (
        <>
          {fault === null && (
            <LayoutButton
              label="Save layout"
              // The form that had the focus is gone.
              autoFocus={naming === 'named'}
              onClick={() => setNaming('save')}
            />
          )}
          {fault === null && changed !== null && (
            <LayoutButton label={`Update ${changed}`} onClick={() => save(changed)} />
          )}
          {shown !== null && (
            <>
              <LayoutButton label="Rename" onClick={() => setNaming('rename')} />
              <LayoutButton label="Delete" onClick={() => remove(shown)} />
            </>
          )}
        </>
      )}
    </>
  );
}

interface LayoutButtonProps {
  readonly label: string;
  readonly autoFocus?: boolean;
  readonly onClick: () => void;
}

function LayoutButton({ label, autoFocus, onClick }: LayoutButtonProps) {
  return (
    <button type="button" className={controls.button} autoFocus={autoFocus} onClick={onClick}>
      {label}
    </button>
  );
}

/** The address with everything that the view needs, the pins and metrics of this browser too. */
function ShareView({ view }: { readonly view: ExplorerView }) {
  const moment = useNamedMoment();
  const path = useHref(withMoment({ search: `?${writeView(view).toString()}` }, moment));
  if (lengthFault(view) !== null) return null;
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
  /** Names of layouts, which no other one takes. */
  readonly taken: readonly string[];
  readonly onName: (name: string) => void;
  readonly onCancel: () => void;
}

function NameForm({ action, initial, taken, onName, onCancel }: NameFormProps) {
  const [name, setName] = useState(initial);
  const isTaken = name.trim() !== initial && taken.includes(name.trim());
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onName(name.trim());
  };
  return (
    <form
      className={controls.field}
      onSubmit={submit}
      onKeyDown={({ key }) => {
        if (key === 'Escape') onCancel();
      }}
    >
      <input
        className={controls.input}
        aria-label="Name of the layout"
        placeholder="Name of the layout"
        maxLength={MAX_NAME_LENGTH}
        autoFocus
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <button type="submit" className={controls.primary} disabled={name.trim() === '' || isTaken}>
        {action}
      </button>
      <button type="button" className={controls.button} onClick={onCancel}>
        Cancel
      </button>
      {isTaken && <small role="alert">There is a layout “{name.trim()}” already.</small>}
    </form>
  );
}
