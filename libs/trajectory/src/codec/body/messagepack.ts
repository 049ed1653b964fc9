import { Packr } from 'msgpackr';

/**
 * Plain MessagePack, readable by any implementation. Without record extension and shared structures, every body can be read
 * by itself, and equal values give equal bytes.
 */
export const messagePack = new Packr({ useRecords: false, variableMapSize: true, int64AsType: 'number' });
