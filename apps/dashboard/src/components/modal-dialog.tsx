import { type ReactNode, useLayoutEffect, useRef } from 'react';
import styles from './modal-dialog.module.css';

interface ModalDialogProps {
  /** Name of the dialog for screen readers. */
  readonly label: string;
  readonly onClose: () => void;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A dialog that is open as long as it is there; Escape and a click beside it close it, and the focus goes back to where it was. */
export function ModalDialog({ label, onClose, className = '', children }: ModalDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // A layout effect closes it while it is still in the page, which gives the focus back.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => {
      element?.close();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      className={`${styles.dialog} ${className}`}
      aria-label={label}
      onClose={({ currentTarget }) => {
        if (!currentTarget.open) onClose();
      }}
      onMouseDown={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <div className={styles.inside}>{children}</div>
    </dialog>
  );
}
