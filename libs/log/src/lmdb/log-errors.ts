import { statfs } from 'node:fs/promises';
import { TrajectoryError } from '@retrace/trajectory';
import { LogError } from '../log-error.js';

/** Codes of LMDB. Those of the operating system differ between systems, so they are recognized by their text. */
const MDB_PAGE_NOTFOUND = -30797;
const MDB_CORRUPTED = -30796;
const MDB_VERSION_MISMATCH = -30794;
const MDB_INVALID = -30793;
const MDB_MAP_FULL = -30792;

const DISK_FULL = /ENOSPC|EDQUOT|EFBIG|no space left|quota exceeded|file too large|not enough space/i;
const NOT_WRITABLE =
  /EACCES|EPERM|EROFS|ENOTDIR|EEXIST|permission denied|not permitted|read-only file system|not a directory|access is denied/i;
const SHORT_WRITE = /\bEIO\b|input\/output error/i;

/** With less free space than this, a short write is attributed to a full disk. */
const FULL_DISK_FREE_BYTES = 64 * 1024 * 1024;

/** Turns an error of the driver or the file system into a `LogError` that says what to do; returns our own errors unchanged. */
export async function toLogError(
  action: string,
  path: string,
  error: unknown,
  freeBytesOf: (path: string) => Promise<number> = freeBytes,
): Promise<LogError | TrajectoryError> {
  if (error instanceof TrajectoryError) return error;
  const cause = await rootCause(error);
  const detail = cause instanceof Error ? cause.message : String(cause);
  const code = readCode(cause);
  const text = `${code} ${detail}`;
  const failed = `${action} failed in the event log at ${path}`;

  // LMDB reports every incomplete write as EIO, whatever the cause.
  const isShortWrite = SHORT_WRITE.test(text);
  if (DISK_FULL.test(text) || (isShortWrite && (await freeBytesOf(path)) < FULL_DISK_FREE_BYTES)) {
    const message = `${failed}: the disk is full (${detail}); free space there, no acknowledged record is lost`;
    return new LogError('LOG_DISK_FULL', message, { retriable: true, cause });
  }
  if (isShortWrite) {
    const message = `${failed}: a write was incomplete (${detail}); check the quota, the file-size limit and the disk`;
    return new LogError('LOG_FAILED', message, { retriable: true, cause });
  }
  if (NOT_WRITABLE.test(text)) {
    const message = `${failed}: ${detail}; it must be a directory that this user can write to`;
    return new LogError('LOG_NOT_WRITABLE', message, { cause });
  }
  switch (code) {
    case MDB_MAP_FULL:
      return new LogError('LOG_MAP_FULL', `${failed}: the address space for its map is used up`, { cause });
    case MDB_CORRUPTED:
    case MDB_INVALID:
    case MDB_PAGE_NOTFOUND:
    case MDB_VERSION_MISMATCH:
      return new LogError('LOG_CORRUPT', `${failed}: its file is damaged or not an LMDB file (${detail})`, {
        cause,
      });
    default:
      return new LogError('LOG_FAILED', `${failed}: ${detail}`, { retriable: true, cause });
  }
}

async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

/** The driver rejects a failed commit with an error whose `commitError` promise rejects with the reason. */
async function rootCause(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !('commitError' in error)) return error;
  try {
    await error.commitError;
    return error;
  } catch (reason) {
    return reason;
  }
}

function readCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
