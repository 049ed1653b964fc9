/** Orders of a sorted list. */
export const ORDERS = ['ascending', 'descending'] as const;

export type Order = (typeof ORDERS)[number];

/** The order in SQL; what has no value comes last in both. */
export function sqlOrder(order: Order): string {
  return order === 'ascending' ? 'ASC NULLS LAST' : 'DESC NULLS LAST';
}
