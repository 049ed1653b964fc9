import fc from 'fast-check';
import { EPISODE_EVENTS, type StepRecorded } from '../events/episode-events.js';
import { anyObject, anyValue, int32, json, natural, nonEmptyText, real, record, text } from './any-field.js';

/** Random valid steps, for property tests. */

/** Columns of up to 60 tokens, any of which the policy may have sampled. */
const tokenColumns = fc
  .array(
    record({
      id: int32,
      isAction: fc.boolean(),
      logprob: fc.float({ max: 0, noNaN: true, noDefaultInfinity: true }),
      raw: fc.float({ max: 0, noNaN: true, noDefaultInfinity: true }),
      entropy: fc.float({ min: 0, noNaN: true, noDefaultInfinity: true }),
      version: int32,
    }),
    { maxLength: 60 },
  )
  // Observation tokens first.
  .map((tokens) => tokens.sort((a, b) => Number(a.isAction) - Number(b.isAction)))
  .chain((tokens) =>
    record({ hasRaw: fc.boolean(), hasEntropies: fc.boolean(), numExperts: fc.nat(3) }).map(
      ({ hasRaw, hasEntropies, numExperts }) => {
        const ofActions = (valueOf: (token: (typeof tokens)[number]) => number): Float32Array =>
          Float32Array.from(tokens, (token) => (token.isAction ? valueOf(token) : 0));
        return {
          tokenIds: Int32Array.from(tokens, ({ id }) => id),
          actionMask: Uint8Array.from(tokens, ({ isAction }) => Number(isAction)),
          tokenLogprobs: ofActions(({ logprob }) => logprob),
          tokenRawLogprobs: hasRaw ? ofActions(({ raw }) => raw) : null,
          tokenEntropies: hasEntropies ? ofActions(({ entropy }) => entropy) : null,
          tokenPolicyVersions: Int32Array.from(tokens, ({ version }) => version),
          tokenRoutedExperts:
            numExperts * tokens.length > 0
              ? Int32Array.from(
                  { length: numExperts * tokens.length },
                  (_, i) => tokens[i % tokens.length].id,
                )
              : null,
        };
      },
    ),
  );

const stepRewards = fc.array(nonEmptyText, { maxLength: 4 }).chain((rewardNames) =>
  fc
    .array(fc.oneof(real(), fc.constant(NaN)), {
      minLength: rewardNames.length,
      maxLength: rewardNames.length,
    })
    .map((values) => ({ rewardNames, rewardValues: Float64Array.from(values) })),
);

const message = fc.oneof(
  record({ role: fc.constantFrom('system', 'user', 'tool'), content: text }),
  record({ role: fc.constant('assistant'), content: fc.option(text), reasoning_content: text }),
  record({
    role: nonEmptyText,
    content: fc.array(record({ type: fc.constant('text'), text, extra: json }), { maxLength: 2 }),
    tool_calls: fc.array(
      record({ id: text, type: fc.constant('function'), function: record({ name: text, arguments: text }) }),
      { maxLength: 2 },
    ),
  }),
);
const messages = record({ input: fc.array(message, { maxLength: 3 }), output: fc.option(message) }).map(
  // An object whose fields have the plain order that the codec gives them.
  (value) => JSON.parse(JSON.stringify(value)) as never,
);
/** Any step of that number. */
export function anyStep(step: number): fc.Arbitrary<StepRecorded> {
  const dependent = record({
    keptPrefixTokens: step === 0 ? fc.constant(0) : natural,
    logprobMode: fc.constantFrom('processed', 'raw'),
    messages: fc.option(messages, { nil: null as never }),
    // The store has these in 32 bits.
    generationMs: fc.option(real(0, 1e9)),
    environmentMs: fc.option(real(0, 1e9)),
    sampling: (anyValue(EPISODE_EVENTS.StepRecorded.sampling) as fc.Arbitrary<StepRecorded['sampling']>).map(
      (value) => value && { ...value, maxNewTokens: Math.min(value.maxNewTokens, 2 ** 31 - 1) },
    ),
  });
  return fc
    .tuple(anyObject(EPISODE_EVENTS.StepRecorded), dependent, tokenColumns, stepRewards)
    .map(
      ([others, chosen, columns, rewards]) =>
        ({ ...others, ...chosen, ...columns, ...rewards, step }) as never,
    );
}
