import { Tooltip, TooltipAnchor, useTooltipStore } from '@ariakit/react/tooltip';
import type { ComponentProps } from 'react';
import styles from './tooltip.module.css';

const SHOWN_AFTER_MS = 300;

interface ShownTooltipProps extends ComponentProps<'button'> {
  readonly tooltip: string;
  readonly isShownByPress: boolean;
}

/** A button with its tooltip, which appears under the pointer, with the focus of the keyboard, and by a press where that does nothing else. */
export function ShownTooltip({ tooltip, isShownByPress, ...button }: ShownTooltipProps) {
  const store = useTooltipStore({ placement: 'top', showTimeout: SHOWN_AFTER_MS });
  return (
    <>
      <TooltipAnchor
        store={store}
        render={<button type="button" aria-description={tooltip} {...button} />}
        onClick={({ currentTarget }) => {
          if (!isShownByPress) return;
          store.setAnchorElement(currentTarget);
          store.show();
        }}
      />
      {/* In a landmark, so that all content of the page is in one. */}
      <Tooltip
        store={store}
        className={styles.tooltip}
        portalElement={() => document.querySelector('main')}
        unmountOnHide
      >
        {tooltip}
      </Tooltip>
    </>
  );
}
