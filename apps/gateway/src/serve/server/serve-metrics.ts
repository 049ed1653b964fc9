import { Counter, Histogram, Registry } from 'prom-client';
import { addGauges } from '../../http/metrics.js';
import type { ServingEngine } from '../engine/serving-engine.js';
import type { PolicySupply } from '../supply/policy-supply.js';

const SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** Counts of the server in Prometheus' text format. */
export class ServeMetrics {
  readonly registry = new Registry();
  readonly requests = new Counter({
    name: 'retrace_serve_requests_total',
    help: 'Requests of the API by their path and status; 499 for those whose client went away',
    labelNames: ['path', 'status'],
    registers: [this.registry],
  });
  readonly seconds = new Histogram({
    name: 'retrace_serve_request_seconds',
    help: 'Time from a request to the end of its answer',
    buckets: SECONDS,
    registers: [this.registry],
  });

  constructor(engine: ServingEngine, supply: PolicySupply) {
    addGauges(this.registry, 'retrace_serve', {
      running_answers: ['Answers that are being generated', () => engine.numRunning],
      waiting_answers: ['Answers that wait for a slot', () => engine.numWaiting],
      sampled_tokens: ['Tokens that were sampled since the start', () => engine.numSampled],
      steps: ['Forward passes over all answers since the start', () => engine.numSteps],
      weight_swaps: ['Times that newer weights were taken up', () => engine.numSwaps],
      policy_version: [
        'Version of the weights; −1 for a model that no run published',
        () => supply.policyVersion ?? -1,
      ],
    });
  }
}
