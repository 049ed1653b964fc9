import { Packr } from 'msgpackr';

/**
 * Plain MessagePack, readable by any implementation: no record extension, no shared structures, so that every body
 * stands alone and equal values give equal bytes.
 */
export const messagePack = new Packr({ useRecords: false, variableMapSize: true, int64AsType: 'number' });
