import { useState } from 'react';
import controls from './controls.module.css';
import { TooltipButton } from './tooltip';

interface CopyLinkProps {
  readonly address: string;
  /** Name of the field that shows the address. */
  readonly label: string;
  /** Says what the link opens. */
  readonly title: string;
}

/** Copies an address; where the browser does not let the page copy, it shows it. */
export function CopyLink({ address, label, title }: CopyLinkProps) {
  const [state, setState] = useState<'copied' | 'shown' | null>(null);
  return (
    <>
      <TooltipButton
        className={controls.button}
        tooltip={title}
        onClick={() => {
          // A page that is not served from this machine or over HTTPS has no clipboard.
          const { clipboard } = navigator as { readonly clipboard?: Clipboard };
          const copying = clipboard?.writeText(address) ?? Promise.reject(new Error('no clipboard'));
          copying.then(
            () => {
              setState('copied');
            },
            () => {
              setState('shown');
            },
          );
        }}
      >
        {state === 'copied' ? 'Copied' : 'Copy link'}
      </TooltipButton>
      {state === 'shown' && <input className={controls.input} aria-label={label} readOnly value={address} />}
    </>
  );
}
