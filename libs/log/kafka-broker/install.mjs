/**
 * Apache Kafka for tests: fetched once from Maven Central with `mvn` into the cache, every jar checked against `jars.sha256`.
 *
 *   node libs/log/kafka-broker/install.mjs
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const run = promisify(execFile);

const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies';
const INSTALL_TIMEOUT_MS = 240_000;

/** Why there can be no broker on this machine; the message completes "skipped, because …". */
export class KafkaUnavailable extends Error {}

/**
 * The directory that holds Kafka's jars.
 *
 * @throws KafkaUnavailable when there is no Java or the jars are neither cached nor can be fetched
 */
export async function installKafka() {
  await requireJava();
  const expected = readExpected();
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'retrace');
  const directory = join(cache, `kafka-${digest(readFileSync(join(here, 'jars.sha256'))).slice(0, 12)}`);
  if (existsSync(directory)) return directory;
  mkdirSync(cache, { recursive: true });
  const part = mkdtempSync(join(cache, 'kafka-part-'));
  try {
    await fetchJars(join(part, 'jars'), join(part, 'repository'));
    checkJars(join(part, 'jars'), expected);
    try {
      renameSync(join(part, 'jars'), directory);
    } catch (error) {
      // Another process was first, with the same jars.
      if (!existsSync(directory)) throw error;
    }
    return directory;
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
}

async function requireJava() {
  let version;
  try {
    version = (await run('java', ['-version'])).stderr;
  } catch {
    throw new KafkaUnavailable('there is no Java (17 or newer) on this machine');
  }
  const major = Number(/version "(\d+)/.exec(version)?.[1]);
  if (!(major >= 17)) {
    throw new KafkaUnavailable(`java is version ${major}; Kafka needs 17 or newer`);
  }
}

async function fetchJars(jars, repository) {
  const args = ['-B', '-q', '-ntp', COPY, '-DincludeScope=runtime', `-DoutputDirectory=${jars}`];
  try {
    await run('mvn', [...args, `-Dmaven.repo.local=${repository}`, '-f', join(here, 'pom.xml')], {
      timeout: INSTALL_TIMEOUT_MS,
    });
  } catch (error) {
    const reason = error.code === 'ENOENT' ? 'there is no mvn' : firstLine(error.stdout || error.message);
    throw new KafkaUnavailable(`Kafka is not in the cache and can't be fetched: ${reason}`);
  }
}

/** @throws Error naming the jar that is not the one pinned here: that is never a reason to skip */
function checkJars(jars, expected) {
  const found = new Map(readdirSync(jars).map((name) => [name, digest(readFileSync(join(jars, name)))]));
  for (const name of new Set([...found.keys(), ...expected.keys()])) {
    if (found.get(name) !== expected.get(name)) {
      const rule = `must be ${expected.get(name) ?? 'absent'}`;
      throw new Error(
        `SHA-256 of ${name} is ${found.get(name) ?? 'absent'}; ${rule} (libs/log/kafka-broker/jars.sha256)`,
      );
    }
  }
}

function readExpected() {
  const lines = readFileSync(join(here, 'jars.sha256'), 'utf8').trim().split('\n');
  return new Map(lines.map((line) => line.split(/\s+/).reverse()));
}

function digest(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

function firstLine(text) {
  return text
    .trim()
    .split('\n')[0]
    .replace(/^\[ERROR\]\s*/, '')
    .slice(0, 300);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log(`Kafka is in ${await installKafka()}`);
  } catch (error) {
    if (!(error instanceof KafkaUnavailable)) throw error;
    console.log(`No Kafka: ${error.message}. Tests that need a broker will be skipped.`);
  }
}
