/**
 * The stages of CI, in the order in which they begin. What a landing needs is here, what a release needs is in `test/release` and `test/long`
 * (the rule: `test/README.md`).
 *
 * @typedef {import('./stage-runner.mjs').Stage} Stage
 */

const node = (/** @type {readonly string[]} */ ...args) => /** @type {const} */ ([process.execPath, ...args]);
const npm = (/** @type {string} */ script, /** @type {readonly string[]} */ ...args) =>
  /** @type {const} */ (['npm', 'run', '--silent', script, ...(args.length > 0 ? ['--', ...args] : [])]);

/** The formatter takes the markers in a README for prose. */
const NO_CONFLICT_MARKERS = "! git grep -nE '^(<{7}|>{7}|(> ){7})( |$|[0-9a-f])'";

/** Installs a package of Debian where its program is missing; where it can't be had, the tests that need it are skipped, and say so. */
const aptInstall = (/** @type {string} */ isThere, /** @type {string} */ name) =>
  /** @type {const} */ ([
    'bash',
    '-c',
    `${isThere} || apt-get install -y -qq ${name} || (apt-get update -qq && apt-get install -y -qq ${name}) || echo '${name} is not here and can not be installed'`,
  ]);

const FIND_BROWSER =
  "import('./scripts/find-browser.mjs').then((m) => process.exit('path' in m.findBrowser() ? 0 : 1))";

/** The first part: `npm run check`. @type {readonly Stage[]} */
export const CHECKS = [
  { name: 'lock file', command: node('scripts/check-lock-file.mjs') },
  { name: 'no conflict markers', command: ['bash', '-c', NO_CONFLICT_MARKERS] },
  { name: 'types', command: npm('typecheck') },
  {
    name: 'specs that start nothing',
    command: node('scripts/run-specs.mjs', '--project', 'plain'),
    environment: { RETRACE_TEST_WORKERS: '1' },
  },
  { name: 'lint and format', command: npm('lint') },
  { name: 'layers', command: npm('layers') },
];

const SERVICES = ['kafka for the tests', 's3 server for the tests', 'strace', 'browser', 'webgpu'];

/** @type {readonly Stage[]} */
const INSTALLATIONS = [
  { name: SERVICES[0], command: node('libs/log/kafka-broker/install.mjs') },
  { name: SERVICES[1], command: node('libs/policy/s3-server/install.mjs') },
  { name: SERVICES[2], command: aptInstall('command -v strace', 'strace'), after: [SERVICES[1]] },
  { name: SERVICES[3], command: aptInstall(`node -e "${FIND_BROWSER}"`, 'chromium'), after: [SERVICES[2]] },
  {
    name: SERVICES[4],
    command: [
      'bash',
      '-c',
      'node apps/cli/bin/retrace.mjs backend install --webgpu || echo WebGPU can not be installed',
    ],
    after: ['types'],
  },
];

/** Once, before stages that would build the page beside each other. @type {Stage} */
const PAGE = {
  name: 'page',
  command: node('-e', "import('./scripts/build-if-stale.mjs').then((m) => m.buildIfStale())"),
  after: ['types'],
};

/** Fails for a link to a page that does not exist. @type {Stage} */
const DOCUMENTATION = { name: 'documentation', command: npm('docs'), after: ['types'] };

/**
 * The last two wait much of their time, for servers and for each other's answers, so they run beside the tests.
 *
 * @type {readonly Stage[]}
 */
export const STAGES = [
  ...CHECKS,
  ...INSTALLATIONS,
  PAGE,
  DOCUMENTATION,
  {
    name: 'tests',
    command: ['npm', 'test', '--silent', '--', '--project', '!plain'],
    after: [...SERVICES, PAGE.name],
  },
  { name: 'python client', command: npm('test:python'), after: [PAGE.name] },
  { name: 'smoke', command: node('scripts/smoke.mjs'), after: [PAGE.name] },
];
