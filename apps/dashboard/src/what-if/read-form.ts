import type { WhatIfRequest } from '../api-types/schema';

/** The fields of the form, as they were typed. */
export interface WhatIfFields {
  readonly update: string;
  /** Empty: only `update`. */
  readonly to: string;
  /** One assignment a line. */
  readonly set: string;
  readonly rewardVersion: string;
  readonly withTokens: boolean;
}

/** The request that the form asks for; the server checks it. */
export function readForm({ update, to, set, rewardVersion, withTokens }: WhatIfFields): WhatIfRequest {
  const assignments = set
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const version = rewardVersion.trim();
  return {
    updateNumber: Number(update),
    withTokens,
    ...(to.trim() !== '' && { toUpdate: Number(to) }),
    ...(assignments.length > 0 && { set: assignments }),
    ...(version !== '' && { rewardVersion: version }),
  };
}
