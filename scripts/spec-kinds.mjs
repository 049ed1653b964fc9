/**
 * Kinds of specs. Those that start nothing (no process, store, log or TensorFlow, by what they import) run together in `npm run check`, before everything
 * else in CI; those of a release are left out of `npm test`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { root } from './run-tool.mjs';

const FOLDERS = ['libs', 'apps', 'clients', 'test', 'scripts'];
const SPEC = /\.spec\.(ts|mjs)$/;

/** Drivers: whoever loads one, directly or not, starts what it drives. */
const DRIVERS =
  /^(lmdb|chdb|fs-native-extensions|kafkajs|@tensorflow\/.*|@clickhouse\/client|playwright-core)$/;

/** Starters that much of the product loads without a need to start anything; what counts is a test that imports them. */
const STARTERS = /^node:(child_process|worker_threads|cluster)$/;
const TEST_SUPPORT = /(\.spec\.|\.fixture\.|\.contract\.|\/testing\/|^test\/)/;

/** Specs that a release needs and a landing does not, by the rule in `test/README.md`. */
const RELEASE_SPECS = [
  // Breadth: every algorithm, every alarm, every address and time, every request that the API's document allows, other people's programs.
  'apps/api/src/e2e/as-of.spec.ts',
  'test/system/algorithms.spec.ts',
  'test/system/api-document.spec.ts',
  'test/system/chosen-run.spec.ts',
  'test/system/evaluate.spec.ts',
  'test/system/foreign-pages.spec.ts',
  'test/system/fork.spec.ts',
  'test/system/how-to.spec.ts',
  'test/system/import-export.spec.ts',
  'test/system/judged-rewards.spec.ts',
  'test/system/metrics.spec.ts',
  'test/system/monitored-services.spec.ts',
  'test/system/monitors.spec.ts',
  'test/system/pictures.spec.ts',
  'test/system/played-policies.spec.ts',
  'test/system/privacy.spec.ts',
  'test/system/resumed-play.spec.ts',
  'test/system/retention.spec.ts',
  'test/system/saved-page.spec.ts',
  'test/system/score.spec.ts',
  'test/system/ten-questions.spec.ts',
  'test/alertmanager.spec.ts',
  'test/baselines.spec.ts',
  'test/distillation.spec.ts',
  'test/outside-updates-api.spec.ts',
  'test/update-questions-api.spec.ts',
  /^test\/clients\//,
  // Learning over many updates; what the proxy and serve record, and what is trained on, are specs of a landing.
  /^test\/system\/trained-through-\w+\.spec\.ts$/,
  // Engines in Python, which need torch: the port's contract suite runs on TensorFlow in each landing.
  /^test\/engines\//,
  // Repetition and chance: many points at which to kill, writers without pause.
  'libs/log/src/lmdb/data-file/busy-log.spec.ts',
  'libs/store/src/sink/crash.spec.ts',
  'test/system/hostile-sql.spec.ts',
  'test/take-over.spec.ts',
  'test/faults/damaged-log.spec.ts',
  'test/faults/kills.spec.ts',
  'test/faults/mutations.spec.ts',
  'test/faults/sampling-servers.spec.ts',
  'test/faults/spool.spec.ts',
  'test/faults/store-disk.spec.ts',
  'test/faults/traces.spec.ts',
  'test/faults/validator.spec.ts',
  'test/served-restart.spec.ts',
  // Whole runs on a Kafka broker that breaks; the contract suite of the log runs on one in each landing.
  /^test\/faults\/.*\.kafka\.spec\.ts$/,
  'libs/log/src/kafka/kafka-faults.kafka.spec.ts',
  'test/collector-spool.kafka.spec.ts',
  'test/orphaned-fragments.kafka.spec.ts',
];

/** @param {string} spec relative to the root */
export function isReleaseSpec(spec) {
  return RELEASE_SPECS.some((one) => (typeof one === 'string' ? one === spec : one.test(spec)));
}

/** In specs of a landing that a release runs with more: more backends, more episodes, tests with the tag `release`. */
const MORE_FOR_RELEASE = /await onEachBackend\(|describeEnvironmentContract\(|tags: 'release'/;

/** Lists the specs of `npm run test:release`: those of a release only, and those that then do more than for a landing. */
export function listReleaseSpecs() {
  return listSpecs().filter(
    (spec) => isReleaseSpec(spec) || MORE_FOR_RELEASE.test(readFileSync(join(root, spec), 'utf8')),
  );
}

const IMPORT = /^\s*(?:import|export)\s+(?!type\b)(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm;
/** Products load a driver's CommonJS files where Node would take long to read the names that its module exports. */
const REQUIRE = /\brequire\('([^']+)(?<!\.json)'\)/g;
/** Specs load what they replace or start late. */
const LATE_IMPORT = /\bimport\(\s*'([^']+)'/g;

/** @returns {readonly string[]} all specs, relative to the root, in order */
export function listSpecs() {
  return FOLDERS.flatMap(specsBelow).sort();
}

/** @param {string} folder @returns {string[]} */
function specsBelow(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return ['node_modules', 'dist'].includes(entry.name) ? [] : specsBelow(path);
    return SPEC.test(entry.name) ? [path] : [];
  });
}

/**
 * Picks the specs that start nothing.
 *
 * @param {readonly string[]} specs relative to the root
 * @param {(path: string) => string} [read] of a file, relative to the root
 * @returns {string[]}
 */
export function specsThatStartNothing(specs, read = (path) => readFileSync(join(root, path), 'utf8')) {
  const entries = workspaceEntries();
  /** @type {Map<string, { files: string[], starts: boolean }>} */
  const known = new Map();
  const look = (/** @type {string} */ file) => {
    const seen = known.get(file);
    if (seen) return seen;
    const text = read(file);
    const isSupport = TEST_SUPPORT.test(file);
    const names = [
      ...text.matchAll(IMPORT),
      ...text.matchAll(REQUIRE),
      ...(isSupport ? text.matchAll(LATE_IMPORT) : []),
    ].map(([, name]) => name);
    const starts = names.some((name) => DRIVERS.test(name) || (isSupport && STARTERS.test(name)));
    const files = names.flatMap((name) => entries.get(name) ?? sourceOf(file, name) ?? []);
    const found = { files, starts };
    known.set(file, found);
    return found;
  };
  return specs.filter((spec) => {
    const reached = new Set([spec]);
    for (const file of reached) {
      const { files, starts } = look(file);
      if (starts) return false;
      for (const next of files) reached.add(next);
    }
    return true;
  });
}

/** The source behind each name under which a workspace can be imported. */
function workspaceEntries() {
  /** @type {Map<string, string>} */
  const entries = new Map();
  for (const folder of ['libs', 'apps', 'clients'].flatMap((parent) =>
    readdirSync(join(root, parent)).map((name) => `${parent}/${name}`),
  )) {
    const manifest = join(root, folder, 'package.json');
    if (!existsSync(manifest)) continue;
    const { name, exports = {} } = JSON.parse(readFileSync(manifest, 'utf8'));
    for (const [path, target] of Object.entries(exports)) {
      const source = typeof target === 'string' ? target : target['retrace-source'];
      if (source) entries.set(join(name, path), join(folder, source));
    }
  }
  return entries;
}

/** @param {string} from @param {string} name */
function sourceOf(from, name) {
  if (!name.startsWith('.')) return null;
  const path = relative(root, resolve(root, dirname(from), name));
  return (
    [path, path.replace(/\.js$/, '.ts'), path.replace(/\.js$/, '.tsx')].find((one) =>
      existsSync(join(root, one)),
    ) ?? null
  );
}
