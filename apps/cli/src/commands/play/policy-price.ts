import type { PlayPrice } from '@retrace/store';

export interface PolicyPrice {
  /** Null for every policy without a price of its own. */
  readonly policy: string | null;
  readonly price: PlayPrice;
}
