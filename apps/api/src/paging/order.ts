/** Orders of a sorted list. */
export const ORDERS = ['ascending', 'descending'] as const;

export type Order = (typeof ORDERS)[number];

/** The order in SQL; rows without a value come last in both. */
export function sqlOrder(order: Order): string {
  return order === 'ascending' ? 'ASC NULLS LAST' : 'DESC NULLS LAST';
}
