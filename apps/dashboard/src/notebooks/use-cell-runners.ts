import { useRef, useState } from 'react';
import type { DraftCell } from './notebook-draft';

/** Runs all cells of a notebook, one after the other, since the store answers few queries at once. */
export function useCellRunners() {
  const runners = useRef(new Map<number, () => Promise<unknown>>());
  const isBusy = useRef(false);
  const [isRunningAll, setRunningAll] = useState(false);
  return {
    isRunningAll,
    setRunner: (key: number, run: (() => Promise<unknown>) | null): void => {
      if (run === null) runners.current.delete(key);
      else runners.current.set(key, run);
    },
    runAll: async (cells: readonly DraftCell[]): Promise<void> => {
      if (isBusy.current) return;
      isBusy.current = true;
      setRunningAll(true);
      for (const { key } of cells) await runners.current.get(key)?.();
      isBusy.current = false;
      setRunningAll(false);
    },
  };
}
