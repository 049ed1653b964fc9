/**
 * Prints the peak memory of one process that generates, as JSON. `test/long/memory-estimate.mjs` runs one process per shape, because a
 * process can't reset its peak.
 */
import { Generator, Transformer } from '@retrace/policy';
import { openBackend } from '@retrace/compute';

const { config, promptTokens, options } = JSON.parse(process.argv[2]);
const NUM_ROUNDS = 3;

await openBackend();
const generator = new Generator(Transformer.initialize(config, 1), options);
generator.setPolicyVersion(0);
for (let round = 0; round < NUM_ROUNDS; round++) {
  for (let slot = 0; slot < options.maxSlots; slot++) {
    generator.add({
      slot,
      keptPrefixTokens: 0,
      // No two slots share a beginning, which would be computed once.
      tokenIds: Int32Array.from(
        { length: promptTokens },
        (_, n) => (n * 7919 + slot * 31 + 1) % config.vocabSize,
      ),
      maxNewTokens: options.maxNewTokens,
      temperature: 1,
      samplingSeed: slot,
      stopTokenIds: [],
      greedy: false,
    });
  }
  while (generator.numPending > 0) await generator.step();
  for (let slot = 0; slot < options.maxSlots; slot++) generator.release(slot);
}
console.log(JSON.stringify({ peakBytes: process.resourceUsage().maxRSS * 1024 }));
