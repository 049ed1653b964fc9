/**
 * Loaded into the processes of a run by `NODE_OPTIONS=--import=…`: appends what each update gives to the monitors to the file that
 * `RETRACE_MONITORED_FILE` names, one JSON object a line.
 */
import { appendFileSync } from 'node:fs';
import { RunMonitors } from '../../../apps/trainer/dist/monitors/run-monitors.js';

const { observe } = RunMonitors.prototype;

RunMonitors.prototype.observe = function (update, episodes) {
  const { totals, repeatedFractions, uniformEntropy } = episodes;
  const line = {
    updateNumber: update.updateNumber,
    metrics: Object.fromEntries(update.metrics),
    numEpisodes: totals.length,
    numMissing: totals.filter(Number.isNaN).length,
    repeatedFraction:
      repeatedFractions.reduce((sum, fraction) => sum + fraction, 0) / repeatedFractions.length,
    uniformEntropy,
  };
  appendFileSync(process.env.RETRACE_MONITORED_FILE, `${JSON.stringify(line)}\n`);
  return observe.call(this, update, episodes);
};
