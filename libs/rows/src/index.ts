export { findRowLayout, openBytes, openRows, ROW_FILE_ENDINGS, type RowLayout } from './open-rows.js';
export { isBroken, type BrokenRow, type BrokenRowCode, type Row, type RowRead } from './row.js';
