import { lazy, Suspense, useState } from 'react';
import { useTrainingQueue } from '../api/queue-queries';
import type { RunDetail } from '../api-types/schema';
import controls from '../components/controls.module.css';

// Few visits open it.
const StartForm = lazy(async () => ({ default: (await import('./start-form')).StartForm }));

/** A button and its dialog, which starts a run of a built-in recipe or queues it. */
export function StartRun() {
  return <StartDialog title="Start a run" parent={null} />;
}

/** The same with the recipe and a policy of a run, where this server starts runs. */
export function ForkRun({ run }: { readonly run: RunDetail }) {
  const { data: queue } = useTrainingQueue();
  if (queue?.isAvailable !== true || run.kind !== 'trained' || run.policyVersion === null) return null;
  return <StartDialog title="Fork" parent={run} />;
}

interface StartDialogProps {
  /** Of the button and of the dialog. */
  readonly title: string;
  /** The run that is forked; null for a run of a built-in recipe. */
  readonly parent: RunDetail | null;
}

function StartDialog(props: StartDialogProps) {
  const { title, parent } = props;
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className={parent === null ? controls.primary : controls.button}
        title={parent === null ? undefined : 'Train on from a policy of this run, with other settings'}
        onClick={() => setOpen(true)}
      >
        {title}
      </button>
      <Suspense fallback={null}>
        {isOpen && <StartForm {...props} onClosed={() => setOpen(false)} />}
      </Suspense>
    </>
  );
}
