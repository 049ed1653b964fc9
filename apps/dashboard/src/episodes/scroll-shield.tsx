import { useEffect, useRef } from 'react';
import styles from './episode.module.css';

/** After the last scroll. A browser's own `scrollend` comes after each turn of a wheel. */
const STOPPED_AFTER_MS = 150;

/**
 * Lies over the page while it scrolls. Of thousands of tokens the browser finds the one under the pointer again at each frame, which takes longer
 * than all else; of one element it finds it at once. Not while a button is pressed, since a selection goes on as the page scrolls.
 */
export function ScrollShield() {
  const shield = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let timer: number | undefined;
    let isPressed = false;
    const set = (isShown: boolean): void => {
      window.clearTimeout(timer);
      if (shield.current) shield.current.hidden = !isShown;
    };
    const hide = (): void => {
      set(false);
    };
    const show = (): void => {
      set(!isPressed);
      timer = window.setTimeout(hide, STOPPED_AFTER_MS);
    };
    const press = ({ buttons }: PointerEvent): void => {
      isPressed = buttons !== 0;
    };
    const ending = new AbortController();
    const { signal } = ending;
    document.addEventListener('scroll', show, { signal, passive: true });
    for (const name of ['pointerdown', 'pointerup', 'pointercancel'] as const)
      document.addEventListener(name, press, { signal, capture: true });
    return () => {
      ending.abort();
      window.clearTimeout(timer);
    };
  }, []);
  return <div ref={shield} className={styles.shield} hidden />;
}
