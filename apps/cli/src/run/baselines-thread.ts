/** A thread that measures the baselines of one environment, best known first, and posts each as soon as it is known. */
import { parentPort, workerData } from 'node:worker_threads';
import { measureBaselines, type BaselineOptions } from './measure-baselines.js';

await measureBaselines(workerData as BaselineOptions, (baseline) => parentPort?.postMessage(baseline));
