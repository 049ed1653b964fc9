import { useCallback } from 'react';
import { useShownMoment } from '../as-of/shown-moment';
import { withMoment } from '../as-of/moment';
import { useNavigate } from 'react-router';
import { useRunOfPage } from '../pages/run-layout';

/** Opens the page of an update, as a click on a chart of the run does. Where a curve has a point before the first update, nothing happens. */
export function useOpenUpdate(): (updateNumber: number) => void {
  const { runId } = useRunOfPage();
  const navigate = useNavigate();
  const moment = useShownMoment();
  return useCallback(
    (updateNumber) => {
      if (updateNumber > 0) void navigate(withMoment(`/runs/${runId}/updates/${updateNumber}`, moment));
    },
    [navigate, runId, moment],
  );
}
