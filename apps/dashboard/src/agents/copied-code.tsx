import { useState } from 'react';
import controls from '../components/controls.module.css';
import styles from './now-yours.module.css';

/** Code with a button that copies it. */
export function CopiedCode({ code, label }: { readonly code: string; readonly label: string }) {
  const [said, setSaid] = useState<string | null>(null);
  const copy = (): void => {
    // A page that is not served from this machine or over HTTPS has no clipboard.
    const { clipboard } = navigator as { readonly clipboard?: Clipboard };
    const copying = clipboard?.writeText(code) ?? Promise.reject(new Error('no clipboard'));
    copying.then(
      () => {
        setSaid('Copied');
      },
      () => {
        setSaid('Select the text to copy it');
      },
    );
  };
  return (
    <div className={styles.code}>
      <pre tabIndex={0} role="region" aria-label={label}>
        {code}
      </pre>
      <button type="button" className={controls.button} aria-label={`Copy: ${label}`} onClick={copy}>
        {said ?? 'Copy'}
      </button>
    </div>
  );
}
