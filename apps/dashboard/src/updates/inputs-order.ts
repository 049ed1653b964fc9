import type { UpdateInputsOrder } from '../api/update-queries';
import { INPUT_SORTS } from './input-columns';

/** Without a choice: what did most to the gradient comes first. */
const FIRST = { sort: 'share', order: 'descending' } as const;

type Order = UpdateInputsOrder & Required<Pick<UpdateInputsOrder, 'sort' | 'order'>>;

/** Reads the order of an address; a value that it can't have counts as absent. */
export function readOrder(parameters: URLSearchParams): Order {
  const sort = parameters.get('sort');
  const success = parameters.get('success');
  return {
    sort: INPUT_SORTS.some((one) => one === sort) ? (sort as Order['sort']) : FIRST.sort,
    order: parameters.get('order') === 'ascending' ? 'ascending' : FIRST.order,
    ...((success === 'true' || success === 'false') && { success: success === 'true' }),
  };
}

/** Writes an order into an address; what is as it is without a choice is left out. */
export function writeOrder({ sort, order, success }: Order): URLSearchParams {
  return new URLSearchParams([
    ...(sort === FIRST.sort ? [] : [['sort', sort]]),
    ...(order === FIRST.order ? [] : [['order', order]]),
    ...(success === undefined ? [] : [['success', String(success)]]),
  ]);
}
