import { useCallback } from 'react';
import { useOpenPage } from '../as-of/shown-moment';
import { useRunOfPage } from '../runs/run-of-page';

/** Opens the page of an update, as a click on a chart of the run does. Where a curve has a point before the first update, nothing happens. */
export function useOpenUpdate(): (updateNumber: number) => void {
  const { runId } = useRunOfPage();
  const open = useOpenPage();
  return useCallback(
    (updateNumber) => {
      if (updateNumber > 0) open(`/runs/${runId}/updates/${updateNumber}`);
    },
    [open, runId],
  );
}
