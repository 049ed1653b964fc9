import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy';
const FETCH_TIMEOUT_MS = 240_000;

export interface MavenJar {
  readonly group: string;
  readonly artifact: string;
  readonly version: string;
  readonly classifier?: string;
  readonly sha256: string;
}

export type FetchedJar =
  | { readonly kind: 'available'; readonly path: string }
  /** The reason completes "skipped, because …". */
  | { readonly kind: 'unavailable'; readonly reason: string };

/**
 * A jar from Maven Central, fetched once with `mvn` into the cache; it takes Java and Maven on the machine.
 *
 * @throws Error when its SHA-256 is not the pinned one: that is never a reason to skip
 */
export async function fetchJar(jar: MavenJar): Promise<FetchedJar> {
  const { group, artifact, version, classifier } = jar;
  const directory = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'retrace', 'jars');
  const name = [artifact, version, classifier].filter(Boolean).join('-');
  const path = join(directory, `${name}.jar`);
  if (!existsSync(path)) {
    const obstacle = await fetch(
      [group, artifact, version, 'jar', classifier].filter(Boolean).join(':'),
      directory,
    );
    if (obstacle !== null) return { kind: 'unavailable', reason: obstacle };
  }
  const sha256 = createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
  if (sha256 !== jar.sha256) throw new Error(`${path}: SHA-256 is ${sha256}, must be ${jar.sha256}`);
  return { kind: 'available', path };
}

async function fetch(coordinates: string, directory: string): Promise<string | null> {
  await mkdir(directory, { recursive: true });
  try {
    await run('java', ['-version']);
    await run(
      'mvn',
      ['-B', '-q', '-ntp', COPY, `-Dartifact=${coordinates}`, `-DoutputDirectory=${directory}`],
      {
        timeout: FETCH_TIMEOUT_MS,
      },
    );
    return null;
  } catch (error) {
    const { code, stdout = '', message } = error as Error & { code?: unknown; stdout?: string };
    if (code === 'ENOENT') return 'this machine has no Java or no Maven';
    return `${coordinates} is not in the cache and could not be fetched: ${(stdout || message).split('\n')[0]}`;
  }
}
