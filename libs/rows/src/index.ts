export { findRowLayout, isRowFileName, openBytes, openRows, type RowLayout } from './open-rows.js';
export { RowFileError } from './packing.js';
export { isBroken, type BrokenRow, type BrokenRowCode, type Row, type RowRead } from './row.js';
