import { spawn, execFileSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { startOpenAiServer } from '@retrace/openai-server';
import { startS3Server } from '../../libs/policy/s3-server/start-s3-server.mjs';
import { root } from '../../scripts/run-tool.mjs';
import { writeByteModel } from '../support/byte-model.mjs';
import { torchEnvironment } from '../support/torch-environment.mjs';

/** Where the pages say that the model's server and the environment's are. */
const MODEL_PORT = 8000;
const AGENTGYM_PORT = 36001;
/** Of TensorBoard, which the pages call as a program of the reader. */
const TENSORBOARD = ['tensorboard==2.20.0', 'setuptools<82'];

/**
 * Starts what pages presume, as the variables of a shell name it: a model server and an AgentGym server at the ports of the pages, an S3 server, a
 * model directory, a Python with torch.
 *
 * @param {string} home an existing folder
 */
export async function startServices(home) {
  const s3 = await startS3Server();
  if ('unavailable' in s3) throw new Error(`no S3 server: ${s3.unavailable}`);
  const directory = join(home, 'model');
  if (!existsSync(directory)) await writeByteModel(directory);
  const python = await makePython(join(home, 'python')).catch(async (error) => {
    await s3.close();
    throw error;
  });
  const model = await startOpenAiServer(() => ({ content: 'up' }), { port: MODEL_PORT, engine: 'vllm' });
  const stand = join(root, 'test', 'support', 'agentgym-stand-in.mjs');
  const agentgym = spawn(process.execPath, [stand, 'alfworld', `${AGENTGYM_PORT}`], { stdio: 'inherit' });
  const { accessKeyId, secretAccessKey } = s3.credentials;
  return {
    variables: {
      ...{ MODEL_DIRECTORY: directory, S3_ENDPOINT: s3.endpoint, S3_BUCKET: s3.bucket },
      ...{ S3_KEY_ID: accessKeyId, S3_SECRET: secretAccessKey },
    },
    programs: join(python, 'bin'),
    close: async () => {
      agentgym.kill();
      await s3.close();
      await model.close();
    },
  };
}

/** Makes a Python environment of a reader's own, which sees torch and TensorBoard and into which pages may install. @param {string} directory */
async function makePython(directory) {
  if (existsSync(directory)) return directory;
  const torch = await torchEnvironment();
  if ('unavailable' in torch) throw new Error(`no torch: ${torch.unavailable}`);
  execFileSync(torch.python, ['-m', 'venv', directory]);
  const packages = (environment) => {
    const [version] = readdirSync(join(environment, 'lib'));
    return join(environment, 'lib', version, 'site-packages');
  };
  writeFileSync(join(packages(directory), 'torch.pth'), `${packages(join(torch.python, '..', '..'))}\n`);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...TENSORBOARD];
  execFileSync(join(directory, 'bin', 'python'), pip, { stdio: 'inherit' });
  return directory;
}
