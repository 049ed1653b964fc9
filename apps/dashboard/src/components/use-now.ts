import { useEffect, useState } from 'react';
import { useShownMoment } from '../as-of/shown-moment';

/** The time that the pages show, in ms since the Unix epoch, for texts such as "5 s ago": the current one is updated every `intervalMs`. */
export function useNow(intervalMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => {
      setNow(Date.now());
    }, intervalMs);
    return () => {
      clearInterval(timer);
    };
  }, [intervalMs]);
  const shownMs = Date.parse(useShownMoment() ?? '');
  return Number.isNaN(shownMs) ? now : shownMs;
}
