import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { isReleaseSpec, listSpecs, specsThatStartNothing } from './scripts/spec-kinds.mjs';

/** Specs that share one Kafka broker, which is started only when one of them runs. */
const KAFKA_SPECS = '**/*.kafka.spec.ts';

/** Specs that share one S3 server, which is started only when one of them runs. */
const S3_SPECS = '**/*.s3.spec.ts';

/** Specs that change what the others of their process would meet: modules that they replace, how TensorFlow multiplies, names that they define. */
const OWN_PROCESS_SPECS = [
  'apps/collector/src/baselines/measure-baselines.spec.ts',
  'apps/cli/src/server/disk-watch.spec.ts',
  'libs/policy/src/testing/tensor-losses/tensor-losses.spec.ts',
  'libs/rewards/src/composer.spec.ts',
  'libs/spool/src/file-lock.spec.ts',
  'test/chaos.spec.ts',
  'test/data-parallel.spec.ts',
  'test/known-mistakes.spec.ts',
  'test/schema-evolution.spec.ts',
  // Compares bits, which depend on the backend that another spec opened before.
  'test/system/serve.spec.ts',
];

/** Whole runs and faults, in processes that they share: what they test runs in others. */
const WHOLE_RUN_SPECS = [
  'test/faults/*.spec.ts',
  'test/system/*.spec.ts',
  'libs/store/src/sink/crash.spec.ts',
];

/** Engines in processes of their own; skipped with the reason where Python has no torch (`test/engines/README.md`). */
const ENGINE_SPECS = ['test/engines/*.spec.ts'];

/** Run by commands of their own. */
const OTHERS = { long: 'test/long/**', frameworks: 'test/frameworks/**' };

const specs = listSpecs();

/** Unset: what a landing needs (`test/README.md`). */
const asked = process.env.RETRACE_TESTS;
const leftOut = [
  ...configDefaults.exclude,
  ...Object.entries(OTHERS).flatMap(([name, specs]) => (asked === name ? [] : [specs])),
  ...(asked === undefined ? specs.filter(isReleaseSpec) : []),
];

const missing = [...OWN_PROCESS_SPECS, ...WHOLE_RUN_SPECS].filter(
  (one) => !one.includes('*') && !specs.includes(one),
);
if (missing.length > 0)
  throw new Error(`vitest.config.ts names specs that do not exist: ${missing.join(', ')}`);

const plain = specsThatStartNothing(specs);
const storeTemplate = { globalSetup: ['scripts/store-template-setup.mjs'] };

export default defineConfig({
  resolve: { conditions: ['retrace-source', 'node'] },
  ssr: { resolve: { conditions: ['retrace-source', 'node'] } },
  test: {
    pool: 'forks',
    // Larger young generations are copied less.
    execArgv: ['--max-semi-space-size=32'],
    // Projects, and the two runs of CI, transform the same modules.
    experimental: { fsModuleCache: true },
    // Two more than the cores of a small machine: stores, brokers and processes that are waited for leave them idle.
    maxWorkers: Number(process.env.RETRACE_TEST_WORKERS ?? 4),
    // Loading the code again for each of 400 specs took half the time of all tests. A spec closes what it opens and leaves no global state.
    isolate: false,
    // Only what hangs shall end by these: a test of 20 s takes minutes on a machine that others use.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    ...(process.env.RETRACE_SPEC_REPORTS !== undefined && {
      setupFiles: [join(import.meta.dirname, 'scripts/ci/spec-processor-time.mjs')],
    }),
    tags: [{ name: 'release', description: 'a release needs it, a landing does not (test/README.md)' }],
    ...(asked === undefined && { tagsFilter: ['!release'] }),
    // Bundled once, since Node can't load it: its imports have no file extensions (`libs/compute/src/testing/tfjs-gradients.ts`).
    deps: {
      optimizer: {
        ssr: { enabled: true, include: ['@tensorflow/tfjs-core/dist/register_all_gradients.js'] },
      },
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'plain',
          include: plain,
          exclude: [...leftOut, KAFKA_SPECS, S3_SPECS, ...OWN_PROCESS_SPECS],
        },
      },
      {
        extends: true,
        test: {
          name: 'retrace',
          include: [
            'libs/**/src/**/*.spec.ts',
            'apps/**/src/**/*.spec.ts',
            'clients/**/src/**/*.spec.ts',
            'test/**/*.spec.ts',
            'scripts/**/*.spec.mjs',
          ],
          exclude: [
            ...[...leftOut, KAFKA_SPECS, S3_SPECS, ...OWN_PROCESS_SPECS, ...WHOLE_RUN_SPECS, ...plain],
            ...ENGINE_SPECS,
          ],
          ...storeTemplate,
        },
      },
      {
        extends: true,
        test: {
          name: 'own process',
          isolate: true,
          include: OWN_PROCESS_SPECS,
          exclude: leftOut,
          ...storeTemplate,
        },
      },
      {
        extends: true,
        test: {
          name: 'whole runs',
          include: WHOLE_RUN_SPECS,
          exclude: [...leftOut, KAFKA_SPECS, ...OWN_PROCESS_SPECS],
          globalSetup: ['scripts/store-template-setup.mjs', 'scripts/trained-directory-setup.mjs'],
        },
      },
      {
        extends: true,
        test: { name: 'engines', isolate: true, include: ENGINE_SPECS, exclude: leftOut },
      },
      {
        extends: true,
        test: {
          name: 'kafka',
          include: [`{apps,libs,test}/${KAFKA_SPECS}`],
          exclude: leftOut,
          globalSetup: ['libs/log/kafka-broker/vitest-setup.mjs'],
        },
      },
      {
        extends: true,
        test: {
          name: 's3',
          include: [`libs/${S3_SPECS}`, `test/${S3_SPECS}`],
          exclude: leftOut,
          globalSetup: ['libs/policy/s3-server/vitest-setup.mjs'],
        },
      },
    ],
  },
});
