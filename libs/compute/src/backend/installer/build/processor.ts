import { readFileSync } from 'node:fs';
import { ComputeError } from '../../compute-error.js';

const V3 = ['avx2', 'fma', 'f16c', 'bmi1', 'bmi2'];

/**
 * Generations of processors, oldest first, each with the instructions that Linux must list for it: a baseline that every
 * processor of the platform has, then levels of the System V ABI for AMD64 (except v2, which makes nothing here faster).
 */
const GENERATIONS = {
  baseline: [],
  'x86-64-v3': V3,
  'x86-64-v4': [...V3, 'avx512f', 'avx512bw', 'avx512cd', 'avx512dq', 'avx512vl'],
} as const;

export type Processor = keyof typeof GENERATIONS;

const NAMES = Object.keys(GENERATIONS) as Processor[];

/**
 * Returns the generation that `asked`, the value of RETRACE_PROCESSOR, names; by default the newest of this machine.
 *
 * @throws ComputeError `BACKEND_UNAVAILABLE` where it names none, or a newer one
 */
export function chosenProcessor(asked: string | undefined): Processor {
  const processors = usableProcessors();
  if (asked === undefined) return processors[processors.length - 1];
  const found = processors.find((name) => name === asked);
  if (found === undefined) {
    const message = `RETRACE_PROCESSOR is '${asked}'; it must be one of ${processors.join(', ')} on this machine`;
    throw new ComputeError('BACKEND_UNAVAILABLE', message);
  }
  return found;
}

let usable: readonly Processor[] | null = null;

/** Lists the generations whose code this machine runs, oldest first. Read once a process. */
export function usableProcessors(): readonly Processor[] {
  usable ??= NAMES.slice(0, NAMES.indexOf(parseProcessor(readCpuInfo())) + 1);
  return usable;
}

/** @param cpuInfo content of `/proc/cpuinfo` */
export function parseProcessor(cpuInfo: string): Processor {
  const flags = new Set(/^flags\s*:(.*)$/m.exec(cpuInfo)?.[1].trim().split(/\s+/) ?? []);
  return NAMES.findLast((name) => GENERATIONS[name].every((flag) => flags.has(flag))) ?? 'baseline';
}

function readCpuInfo(): string {
  try {
    return readFileSync('/proc/cpuinfo', 'latin1');
  } catch {
    return '';
  }
}
