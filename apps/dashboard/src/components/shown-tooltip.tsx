import { Tooltip, useTooltipStore } from '@ariakit/react/tooltip';
import { useEffect } from 'react';
import styles from './tooltip.module.css';

const SHOWN_AFTER_MS = 300;

interface ShownTooltipProps {
  /** The button that it explains. */
  readonly anchor: HTMLElement;
  readonly tooltip: string;
  readonly isShownByPress: boolean;
  /** Whether the button was pressed before this was loaded. */
  readonly wasPressed: boolean;
}

/** The tooltip of a button, which appears under the pointer, with the focus of the keyboard, and by a press where that does nothing else. */
export function ShownTooltip({ anchor, tooltip, isShownByPress, wasPressed }: ShownTooltipProps) {
  const store = useTooltipStore({ placement: 'top' });
  useEffect(() => {
    store.setAnchorElement(anchor);
    const listening = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const waitToShow = () => {
      timer ??= setTimeout(store.show, SHOWN_AFTER_MS);
    };
    const stopWaiting = () => {
      clearTimeout(timer);
      timer = undefined;
    };
    const showAtFocus = () => {
      if (anchor.matches(':focus-visible')) store.show();
    };
    const hide = () => {
      stopWaiting();
      store.hide();
    };
    const press = () => {
      stopWaiting();
      if (isShownByPress) store.show();
      else store.hide();
    };
    const { signal } = listening;
    anchor.addEventListener('pointerenter', waitToShow, { signal });
    anchor.addEventListener('pointerleave', stopWaiting, { signal });
    anchor.addEventListener('focus', showAtFocus, { signal });
    anchor.addEventListener('blur', hide, { signal });
    anchor.addEventListener('click', press, { signal });
    // What came before these listeners.
    if (anchor.matches(':focus-visible')) store.show();
    else if (anchor.matches(':hover')) waitToShow();
    return () => {
      stopWaiting();
      listening.abort();
    };
  }, [anchor, store, isShownByPress]);
  useEffect(() => {
    if (wasPressed) store.show();
  }, [wasPressed, store]);
  return (
    // In a landmark, so that all content of the page is in one.
    <Tooltip
      store={store}
      className={styles.tooltip}
      portalElement={() => document.querySelector('main')}
      unmountOnHide
    >
      {tooltip}
    </Tooltip>
  );
}
