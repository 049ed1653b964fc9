import { configDefaults, defineConfig } from 'vitest/config';

/** Specs that share one Kafka broker, which is started only when one of them runs. */
const KAFKA_SPECS = '**/*.kafka.spec.ts';

/** Specs that share one S3 server, which is started only when one of them runs. */
const S3_SPECS = '**/*.s3.spec.ts';

/** Specs that change what the others of their process would meet: modules that they replace, how TensorFlow multiplies, names that they define. */
const OWN_PROCESS_SPECS = [
  'apps/cli/src/run/measure-baselines.spec.ts',
  'apps/cli/src/server/disk-watch.spec.ts',
  'libs/policy/src/testing/tensor-losses/tensor-losses.spec.ts',
  'libs/rewards/src/composer.spec.ts',
  'test/chaos.spec.ts',
  'test/data-parallel.spec.ts',
  'test/known-mistakes.spec.ts',
  'test/schema-evolution.spec.ts',
];

/**
 * Specs of minutes, which run by commands of their own: `npm run test:faults`, `test:system`, `test:frameworks`, `test:long`.
 * A broker that is killed, or silent until deadlines pass, is most of a minute of waiting.
 */
const SLOW_SPECS = Object.entries({
  faults: ['test/faults/**', '**/kafka-faults.kafka.spec.ts', 'libs/store/src/sink/crash.spec.ts'],
  system: ['test/system/**'],
  frameworks: ['test/frameworks/**'],
  long: ['test/long/**'],
}).flatMap(([name, specs]) => (process.env.RETRACE_TESTS === name ? [] : specs));

const RUNS_SLOW_SPECS = process.env.RETRACE_TESTS !== undefined;

export default defineConfig({
  resolve: { conditions: ['retrace-source', 'node'] },
  ssr: { resolve: { conditions: ['retrace-source', 'node'] } },
  test: {
    pool: 'forks',
    // One more than the cores of a small machine: stores, brokers and processes that are waited for leave them idle. CI runs slow specs of two kinds at once.
    maxWorkers: RUNS_SLOW_SPECS ? 2 : 3,
    // Loading the code again for each of 400 specs took half the time of all tests. A spec closes what it opens and leaves no global state.
    isolate: RUNS_SLOW_SPECS,
    // Only what hangs shall end by these: a test of 20 s takes a minute on a machine that others use.
    testTimeout: 120_000,
    hookTimeout: 180_000,
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
          name: 'retrace',
          include: [
            'libs/**/src/**/*.spec.ts',
            'apps/**/src/**/*.spec.ts',
            'clients/**/src/**/*.spec.ts',
            'test/**/*.spec.ts',
            'scripts/**/*.spec.mjs',
          ],
          exclude: [...configDefaults.exclude, KAFKA_SPECS, S3_SPECS, ...OWN_PROCESS_SPECS, ...SLOW_SPECS],
          globalSetup: ['scripts/store-template-setup.mjs'],
        },
      },
      {
        extends: true,
        test: {
          name: 'own process',
          isolate: true,
          include: OWN_PROCESS_SPECS,
          globalSetup: ['scripts/store-template-setup.mjs'],
        },
      },
      {
        extends: true,
        test: {
          name: 'kafka',
          include: [`libs/${KAFKA_SPECS}`, `test/${KAFKA_SPECS}`],
          exclude: [...configDefaults.exclude, ...SLOW_SPECS],
          globalSetup: ['libs/log/kafka-broker/vitest-setup.mjs'],
        },
      },
      {
        extends: true,
        test: {
          name: 's3',
          include: [`libs/${S3_SPECS}`, `test/${S3_SPECS}`],
          exclude: [...configDefaults.exclude, ...SLOW_SPECS],
          globalSetup: ['libs/policy/s3-server/vitest-setup.mjs'],
        },
      },
    ],
  },
});
