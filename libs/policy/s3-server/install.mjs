/**
 * Versity S3 Gateway for tests: an S3 server that stores objects as files. Built once from the Go module proxy into the cache; `go` checks the
 * module and its dependencies against the checksum database.
 *
 *   node libs/policy/s3-server/install.mjs
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const VERSION = 'v1.8.0';
const PACKAGE = `github.com/versity/versitygw/cmd/versitygw@${VERSION}`;
const BUILD_TIMEOUT_MS = 900_000;

/** Why there can be no S3 server on this machine; the message completes "skipped, because …". */
export class S3ServerUnavailable extends Error {}

/**
 * The path of the server's program.
 *
 * @throws S3ServerUnavailable when there is no Go, or the module can't be fetched
 */
export async function installS3Server() {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'retrace');
  const program = join(cache, `versitygw-${VERSION}`);
  if (existsSync(program)) return program;
  mkdirSync(cache, { recursive: true });
  const part = mkdtempSync(join(cache, 'versitygw-part-'));
  try {
    await promisify(execFile)('go', ['install', PACKAGE], {
      env: { ...process.env, GOBIN: part, CGO_ENABLED: '0' },
      timeout: BUILD_TIMEOUT_MS,
    });
    renameSync(join(part, 'versitygw'), program);
    return program;
  } catch (error) {
    const why =
      error.code === 'ENOENT' ? 'there is no Go on this machine' : lastLine(error.stderr || error.message);
    throw new S3ServerUnavailable(`versitygw ${VERSION} is not in the cache and can't be built: ${why}`);
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
}

function lastLine(text) {
  return text.trim().split('\n').at(-1).slice(0, 300);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log(`The S3 server is ${await installS3Server()}`);
  } catch (error) {
    if (!(error instanceof S3ServerUnavailable)) throw error;
    console.log(`No S3 server: ${error.message}. Tests that need one will be skipped.`);
  }
}
