import { makePythonEnvironment, pipInstall } from './python-client.mjs';

const HOST = ['websockets==17.4', 'numpy', 'pytest==9.0.2', 'pyarrow', 'httpx'];

/** The packages whose environments `retrace.serve_environment` hosts, as tests install them. */
export const HOSTED_PACKAGES = [
  ...['gymnasium==1.4.0', 'verifiers==0.4.0', 'reasoning-gym==0.1.23', 'textarena==0.7.4', 'gem-llm==0.1.0'],
  ...['skyrl-gym==0.4.0', ...HOST],
];

/** verifiers before its rewrite, whose environments answer with `env_response`. */
export const LEGACY_VERIFIERS = ['verifiers==0.1.14', ...HOST];

export const installHostedPackages = () =>
  makePythonEnvironment('hosted-environments-2', (python) => pipInstall(python, HOSTED_PACKAGES));

export const installLegacyVerifiers = () =>
  makePythonEnvironment('verifiers-0.1.14', (python) => pipInstall(python, LEGACY_VERIFIERS));

export const installOpenEnv = () =>
  makePythonEnvironment('openenv-core-0.3.0', (python) => pipInstall(python, ['openenv-core==0.3.0']));
