/** A process that measures the baselines of one environment, best known first, and sends each as soon as it is known. It ends with who started it. */
import { measureBaselines, type BaselineOptions } from './measure-baselines.js';

process.once('disconnect', () => process.exit());
process.once('message', (options: BaselineOptions) => {
  void measureBaselines(options, (baseline) => process.send?.(baseline)).then(() => {
    process.disconnect();
  });
});
