import type { WhatIfItem } from '../api-types/schema';
import { Badge } from '../components/badge';

const TONES = {
  queued: 'neutral',
  running: 'accent',
  finished: 'good',
  failed: 'bad',
  cancelled: 'neutral',
} as const satisfies Record<WhatIfItem['status'], string>;

export function WhatIfStatus({ status, failure }: Pick<WhatIfItem, 'status' | 'failure'>) {
  return (
    <Badge tone={TONES[status]} title={failure?.message}>
      {status}
    </Badge>
  );
}

/** The updates that are asked about: "3", or "3–5". */
export function describeRange({
  updateNumber,
  toUpdate,
}: Pick<WhatIfItem, 'updateNumber' | 'toUpdate'>): string {
  return updateNumber === toUpdate ? `${updateNumber}` : `${updateNumber}–${toUpdate}`;
}

/** The change that is asked about, in words of the form. */
export function describeChange({ set, rewardVersion }: Pick<WhatIfItem, 'set' | 'rewardVersion'>): string {
  const rewards = rewardVersion === null ? [] : [`rewards of ${rewardVersion}`];
  return [...rewards, ...set].join(', ') || 'no change';
}
