import { Dialog } from '@ariakit/react/dialog';
import type { ReactNode } from 'react';
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
  return (
    <Dialog
      open
      onClose={onClose}
      // Ariakit's own closing by a click beside it leaves the focus on the page's body.
      hideOnInteractOutside={false}
      aria-label={label}
      className={`${styles.dialog} ${className}`}
      backdrop={<div className={styles.backdrop} onClick={onClose} />}
    >
      {children}
    </Dialog>
  );
}
