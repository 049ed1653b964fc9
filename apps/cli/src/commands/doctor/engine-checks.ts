import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ENGINE_PACKAGES, engineInstallation, pythonEnvironment } from '@retrace/trainer/torch';
import { gibibytes } from './free-space.js';
import { runCheck, type CheckResult } from './check.js';

const run = promisify(execFile);

/** Torch alone takes seconds to load, on a busy machine up to a minute. */
const TIMEOUT_MS = 300_000;

/** Prints one JSON object: what of the worker's needs this Python has. */
const PROBE = `
import importlib, json, platform
found = {"python": platform.python_version(), "missing": {}, "gpus": []}
for name in ${JSON.stringify(ENGINE_PACKAGES)}:
    try:
        importlib.import_module(name)
    except Exception as error:
        found["missing"][name] = str(error)
try:
    import torch
    found["torch"] = torch.__version__
    found["cuda"] = torch.version.cuda
    if torch.cuda.is_available():
        found["nccl"] = torch.distributed.is_nccl_available()
        for i in range(torch.cuda.device_count()):
            gpu = torch.cuda.get_device_properties(i)
            found["gpus"].append({"name": gpu.name, "memoryBytes": gpu.total_memory})
except Exception:
    pass
print(json.dumps(found))
`;

interface Found {
  readonly python: string;
  readonly missing: Readonly<Record<string, string>>;
  readonly torch?: string;
  readonly cuda?: string | null;
  readonly nccl?: boolean;
  readonly gpus: readonly { readonly name: string; readonly memoryBytes: number }[];
}

/** Checks what the torch engine needs: a Python with its packages, and a GPU, without which it computes on the processor. */
export async function checkTorchEngine(python: string): Promise<CheckResult[]> {
  let found: Found;
  try {
    const { stdout } = await run(python, ['-c', PROBE], {
      env: { ...process.env, ...pythonEnvironment() },
      timeout: TIMEOUT_MS,
    });
    found = JSON.parse(stdout.trim().split('\n').pop() ?? '') as Found;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'there is no such program' : message.split('\n')[0];
    const detail = `${python}: ${reason}; name another with --engine-python, or install Python 3.10 or later`;
    return [{ check: 'python', verdict: 'fail', detail }];
  }
  const packages = await checkPackages(python, found);
  return found.torch === undefined ? [packages] : [packages, await checkGpus(found)];
}

function checkPackages(python: string, { python: version, missing, torch }: Found): Promise<CheckResult> {
  return runCheck('python', () => {
    const lacking = Object.entries(missing);
    const detail = `${version} (${python})${torch === undefined ? '' : `, torch ${torch}`}`;
    if (lacking.length === 0) return { verdict: 'ok', detail };
    const names = lacking.map(([name, reason]) => `${name} (${reason})`).join(', ');
    return { verdict: 'fail', detail: `${detail}; lacks ${names}: ${engineInstallation()}` };
  });
}

function checkGpus({ cuda, nccl, gpus }: Found): Promise<CheckResult> {
  return runCheck('gpu', () => {
    const never = 'the worker was tried on one GPU only, never on several';
    if (gpus.length === 0) {
      const reason = cuda
        ? `torch is built for CUDA ${cuda}, and sees no GPU`
        : 'torch is built without CUDA';
      return { verdict: 'warn', detail: `${reason}: the worker computes on the processor` };
    }
    const names = gpus.map(({ name, memoryBytes }) => `${name}, ${gibibytes(memoryBytes)} GiB`).join('; ');
    const several = gpus.length > 1 && nccl !== true ? '; several processes need NCCL, which is missing' : '';
    return { verdict: 'warn', detail: `${names}, CUDA ${cuda ?? 'unknown'}${several}; ${never}` };
  });
}
