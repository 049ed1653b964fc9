export { findRowLayout, isRowFileName, openBytes, openRows, type RowLayout } from './open-rows.js';
export { RowFileError } from './packing.js';
export {
  isBroken,
  MAX_ROW_BYTES,
  type BrokenRow,
  type BrokenRowCode,
  type Row,
  type RowRead,
} from './row.js';
export { exactInteger, parseJson, rememberWritten, writeJson } from './written-json.js';
