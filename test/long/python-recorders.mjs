/**
 * Runs the Python recorders against the real verl, TRL and verifiers on the processor, and sends what they recorded to a Retrace.
 * Without a GPU: verl's own agent loop with a played inference server, a step of TRL's GRPOTrainer with a tiny model, and verifiers'
 * own graph of messages. A data set of `retrace dataset create` trains with TRL's SFTTrainer, and TRL's chat templates render its calls.
 * What agent-lightning 0.3 and 1.0 stored of two calls and their rewards is imported with its tokens.
 *
 *   npm run test:long -- python-recorders
 *
 * Some 4 GB of packages are installed once; then it takes about two minutes.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { root } from '../support/cli.mjs';
import { HOSTED_PACKAGES, LEGACY_VERIFIERS } from '../support/hosted-packages.mjs';
import { makePythonEnvironment, pipInstall, runPython, withRetrace } from '../support/python-client.mjs';

const TOOLS = ['pytest==9.0.2', 'pyarrow', 'httpx'];

const ENVIRONMENTS = [
  {
    name: 'verl-0.9.1-trl-1.16.0',
    tests: [
      ...[
        'test_verl.py',
        'test_trl.py',
        'test_trl_templates.py',
        'test_datasets.py',
        'test_trainers.py',
        'test_trained_outside.py',
      ],
      ...['../test_batches.py', '../test_training_batch.py'],
    ],
    install: async (python, directory) => {
      await promisify(execFile)('bash', [join(root, 'bench', 'peers', 'set-up.sh'), directory], {
        timeout: 1_800_000,
        maxBuffer: 64 * 1024 ** 2,
      });
      await pipInstall(python, [...TOOLS, 'pillow', 'cachetools', 'aiohttp', 'fastapi', 'uvicorn']);
    },
  },
  {
    name: 'agent-lightning-0.3.0',
    tests: ['test_agent_lightning_spans.py'],
    install: (python) => pipInstall(python, [...TOOLS, 'numpy', 'agentlightning==0.3.0', 'openai']),
  },
  {
    name: 'agent-lightning-1.0.2',
    tests: ['test_agent_lightning_events.py'],
    install: async (python) => {
      await pipInstall(python, [...TOOLS, 'numpy', 'openai']);
      // It asks for Python 3.12, and its server uses nothing that 3.11 lacks.
      await pipInstall(python, ['--ignore-requires-python', 'agentlightning==1.0.2']);
    },
  },
  {
    name: 'verifiers-0.4.0',
    tests: ['test_verifiers.py'],
    install: (python) => pipInstall(python, [...TOOLS, 'verifiers==0.4.0']),
  },
  {
    name: 'hosted-environments-2',
    tests: ['test_hosted_packages.py', '../test_collected_environments.py'],
    install: (python) => pipInstall(python, HOSTED_PACKAGES),
  },
  {
    name: 'verifiers-0.1.14',
    tests: ['test_legacy_verifiers.py'],
    install: (python) => pipInstall(python, LEGACY_VERIFIERS),
  },
];

process.exitCode = await withRetrace(async (variables) => {
  let failed = 0;
  const figures = [];
  for (const { name, tests, install } of ENVIRONMENTS) {
    const environment = await makePythonEnvironment(name, install);
    if ('unavailable' in environment) {
      console.log(`${name}: skipped, because ${environment.unavailable}`);
      continue;
    }
    const startedAt = performance.now();
    const files = tests.map((file) => `tests/heavy/${file}`);
    const code = await runPython(environment.python, ['-m', 'pytest', ...files], variables);
    if (code !== 0) failed = 1;
    figures.push({ name: `${name}: passed`, value: code === 0 ? 1 : 0, unit: '' });
    figures.push({
      name: `${name}: time`,
      value: Math.round((performance.now() - startedAt) / 1000),
      unit: 's',
    });
  }
  const file = process.env.RETRACE_RESULT_FILE;
  if (file) writeFileSync(file, JSON.stringify({ title: 'Python recorders on real packages', figures }));
  return failed;
});
