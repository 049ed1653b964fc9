import { readFileSync } from 'node:fs';
import { ComputeError } from '../../compute-error.js';

const V3 = ['avx2', 'fma', 'f16c', 'bmi1', 'bmi2'];

/**
 * Generations of processors, oldest first: what every one of the platform has, then levels of the System V ABI for AMD64 (without v2,
 * which nothing here gains from). With the instructions that the kernel must name of one.
 */
const GENERATIONS = {
  baseline: [],
  'x86-64-v3': V3,
  'x86-64-v4': [...V3, 'avx512f', 'avx512bw', 'avx512cd', 'avx512dq', 'avx512vl'],
} as const;

export type Processor = keyof typeof GENERATIONS;

const names = Object.keys(GENERATIONS) as Processor[];

/**
 * What Retrace's own ops are compiled for: the newest generation that this processor belongs to, or an older one that
 * `RETRACE_PROCESSOR` names.
 *
 * @throws ComputeError `BACKEND_UNAVAILABLE` where it names none, or a newer one.
 */
export function runningProcessor(asked = process.env['RETRACE_PROCESSOR']): Processor {
  const processors = usableProcessors();
  if (asked === undefined || asked === '') return processors[processors.length - 1];
  const found = processors.find((name) => name === asked);
  if (found === undefined) {
    const message = `RETRACE_PROCESSOR is '${asked}'; must be one of ${processors.join(', ')} on this machine`;
    throw new ComputeError('BACKEND_UNAVAILABLE', message);
  }
  return found;
}

let usable: readonly Processor[] | null = null;

/** Generations that this machine can compute as, oldest first, its own last. Read once: a process keeps its machine. */
export function usableProcessors(): readonly Processor[] {
  usable ??= names.slice(0, names.indexOf(processorOf(readCpuInfo())) + 1);
  return usable;
}

/** @param cpuInfo what Linux says in `/proc/cpuinfo` */
export function processorOf(cpuInfo: string): Processor {
  const flags = new Set(/^flags\s*:(.*)$/m.exec(cpuInfo)?.[1].trim().split(/\s+/) ?? []);
  return names.findLast((name) => GENERATIONS[name].every((flag) => flags.has(flag))) ?? 'baseline';
}

function readCpuInfo(): string {
  try {
    return readFileSync('/proc/cpuinfo', 'latin1');
  } catch {
    return '';
  }
}
