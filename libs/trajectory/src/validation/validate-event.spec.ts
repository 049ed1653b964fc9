import { describe, expect, it } from 'vitest';
import type { StepRecorded } from '../events/episode-events.js';
import type { AnyEvent, ControlEventKind, PayloadOf, RetraceEvent } from '../events/event.js';
import { OWN_GROUPS_ONLY } from '../fold/control/planned-runs.js';
import { sampleControlEvent, sampleEpisodeEvent, sampleEvents, sampleStep } from '../testing/index.js';
import { describeProblem } from '../fields/problem.js';
import { assertValidEvent, findEventProblem } from './validate-event.js';

const PARENT_RUN = '01936d00-0000-7000-8000-00000000b002';

function problemOf(event: unknown): string | null {
  const problem = findEventProblem(event as AnyEvent);
  return problem === null ? null : describeProblem(problem);
}

function stepProblem(change: Partial<Record<keyof StepRecorded, unknown>>): string | null {
  return problemOf(sampleEpisodeEvent('StepRecorded', change as Partial<StepRecorded>));
}

function controlProblem<K extends ControlEventKind>(
  kind: K,
  change: Partial<Record<keyof PayloadOf<K>, unknown>>,
): string | null {
  return problemOf(sampleControlEvent(kind, change as Partial<PayloadOf<K>>));
}

describe('a valid event', () => {
  it.each(sampleEvents())('of kind $kind passes', (event) => {
    expect(problemOf(event)).toBeNull();
  });

  it('may have missing values where they mean something', () => {
    const nan = new Float32Array(26).fill(NaN);
    const missing = nan.map((value, t) => (t < 24 ? 0 : value));
    expect(stepProblem({ reward: null, rewardValues: Float64Array.of(NaN, 1) })).toBeNull();
    expect(stepProblem({ tokenLogprobs: missing, tokenRawLogprobs: nan, tokenEntropies: nan })).toBeNull();
    expect(stepProblem({ tokenLogprobs: missing, logprobMode: 'none' })).toBeNull();
  });

  it('may have no tokens at all', () => {
    expect(stepProblem(sampleStep({ numTokens: 0, numActionTokens: 0 }))).toBeNull();
  });
});

describe('messages of a step', () => {
  const problem = (messages: unknown) => stepProblem({ messages: messages as never });
  const input = (...given: unknown[]) => problem({ input: given, output: null });
  const image = (url: string) => ({ role: 'user', content: [{ type: 'image_url', image_url: { url } }] });

  it('may have any role, parts, tool calls, and fields that other providers add', () => {
    expect(problem(null)).toBeNull();
    expect(problem({ input: [], output: null })).toBeNull();
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: 'not even JSON' } };
    expect(
      problem({
        input: [
          { role: 'critic', content: 'x', cache_control: { type: 'ephemeral' } },
          { role: 'tool', content: [{ type: 'text', text: 'y' }], tool_call_id: 'c' },
          image('https://example.org/a.png'),
        ],
        output: { role: 'assistant', content: null, tool_calls: [call], reasoning_content: 'z' },
      }),
    ).toBeNull();
  });

  it.each<[unknown, string]>([
    [{ input: [] }, 'payload.messages.output is undefined; must be null or an object'],
    [{ input: [], output: null, id: 1 }, 'payload.messages.id is 1; must be absent'],
    [{ input: 'x', output: null }, 'payload.messages.input is "x"; must be a list'],
  ])('refuse %o as a whole', (messages, expected) => {
    expect(problem(messages)).toContain(expected);
  });

  it.each<[unknown, string]>([
    ['hi', 'input[0] is "hi"; must be an object'],
    [{ content: 'x' }, 'input[0].role is undefined; must be non-empty text'],
    [{ role: 'user', content: 5 }, 'input[0].content is 5; must be text, a list of parts, or null'],
    [{ role: 'user', content: ['x'] }, 'input[0].content[0] is "x"; must be an object'],
    [{ role: 'user', content: [{ text: 'x' }] }, 'input[0].content[0].type is undefined; must be non-empty'],
    [{ role: 'user', content: 'x', extra: NaN }, 'input[0].extra is NaN; must be a finite number'],
    [{ role: 'a', tool_calls: [{ function: {} }] }, 'input[0].tool_calls[0].id is undefined'],
    [
      { role: 'a', tool_calls: [{ id: 'c', function: { name: 'f', arguments: {} } }] },
      'input[0].tool_calls[0].function.arguments is an object; must be text',
    ],
    [image(`data:image/png;base64,${'A'.repeat(4096)}`), 'store the image elsewhere and give its address'],
  ])('refuse a message %o', (message, expected) => {
    expect(input(message)).toContain(expected);
  });

  it('may have an image of up to 4,096 characters inline', () => {
    const start = 'data:image/png;base64,';
    expect(input(image(start + 'A'.repeat(4096 - start.length)))).toBeNull();
  });
});

describe('a run', () => {
  const recorded = { runKind: 'recorded', recipe: null, recipeHash: '', environment: '' } as const;

  it('that is recorded has no recipe, and may not know its environment', () => {
    expect(controlProblem('RunStarted', recorded)).toBeNull();
    expect(controlProblem('RunStarted', { ...recorded, recipe: {} })).toContain(
      'must be null in a recorded run',
    );
    expect(controlProblem('RunStarted', { ...recorded, recipeHash: 'x' })).toContain(
      "must be '' in a recorded",
    );
  });

  it('that is trained has a recipe and an environment', () => {
    expect(controlProblem('RunStarted', { recipeHash: '' })).toContain(
      'must be non-empty text in a trained run',
    );
    expect(controlProblem('RunStarted', { environment: '' })).toContain(
      'must be non-empty text in a trained',
    );
  });
});

describe('an envelope', () => {
  const event = sampleEpisodeEvent('StepRecorded');
  const control = sampleControlEvent('RunStarted');

  it.each<[Partial<Record<keyof RetraceEvent, unknown>>, string]>([
    [{ kind: 'StepDeleted' }, 'kind is "StepDeleted"; must be a known event kind'],
    [{ schemaVersion: 1 }, 'StepRecorded.schemaVersion is 1; must be 4, the current version'],
    [{ eventId: 'x' }, 'StepRecorded.eventId is "x"; must be a lower-case UUID'],
    [{ runId: '' }, 'StepRecorded.runId is ""; must be a lower-case UUID'],
    [{ occurredAtUs: 1.5 }, 'StepRecorded.occurredAtUs is 1.5; must be an integer ≥ 0'],
    [{ episodeId: 7 }, 'StepRecorded.episodeId is 7; must be a lower-case UUID'],
  ])('with %o is refused', (change, problem) => {
    expect(problemOf({ ...event, ...change })).toBe(problem);
  });

  it('of an episode event must have the id that its key gives', () => {
    expect(problemOf({ ...event, eventId: control.eventId })).toMatch(
      /eventId is .*; must be .*, the id derived from/,
    );
  });

  it('of a control event belongs to no episode and no place', () => {
    expect(problemOf({ ...control, episodeId: event.episodeId })).toMatch(/must be '' in a control event/);
    expect(problemOf({ ...control, seq: 1 })).toMatch(/seq is 1; must be 0/);
  });

  it('may belong to no run only where that makes sense', () => {
    expect(problemOf({ ...sampleControlEvent('RetentionApplied'), runId: '' })).toBeNull();
    expect(problemOf({ ...control, runId: '' })).toMatch(/RunStarted.runId/);
  });
});

describe('a field', () => {
  it.each<[Partial<Record<keyof StepRecorded, unknown>>, string]>([
    [{ observation: 5 }, 'observation is 5; must be text without lone surrogates'],
    [{ action: 'half \ud83d' }, 'must be text without lone surrogates'],
    [{ parsedAction: undefined }, 'parsedAction is undefined; must be null or text'],
    [{ reward: NaN }, 'reward is NaN; must be null or a finite number'],
    [{ reward: Infinity }, 'reward is Infinity; must be null or a finite number'],
    [{ rewardNames: ['goal', ''] }, 'rewardNames[1] is ""; must be non-empty text'],
    [{ rewardValues: [0, 1] }, 'rewardValues is a list of 2; must be a Float64Array'],
    [{ tokenIds: Buffer.alloc(4) }, 'tokenIds is Buffer of 4 bytes; must be an Int32Array'],
    [{ actionValid: 1 }, 'actionValid is 1; must be null or true or false'],
    [{ logprobMode: 'top-k' }, 'logprobMode is "top-k"; must be one of processed, raw, none'],
    [{ keptPrefixTokens: -1 }, 'keptPrefixTokens is -1; must be an integer ≥ 0'],
    [{ sampling: { temperature: 1 } }, 'sampling.topK is undefined; must be an integer ≥ 0'],
    [{ generationMs: -1 }, 'generationMs is -1; must be null or a finite number ≥ 0'],
    [{ info: { deep: [new Date(0)] } }, 'info.deep[0] is an object; must be a JSON value'],
    [{ info: { at: NaN } }, 'info.at is NaN; must be a finite number'],
    [{ info: JSON.parse('{"__proto__": 1}') as unknown }, 'must be without a key "__proto__"'],
    [{ observation: 'x'.repeat(99), action: null }, 'action is null; must be text'],
  ])('of a step with %o is refused', (change, problem) => {
    expect(stepProblem(change)).toContain(problem);
  });

  it('that the schema does not have is refused', () => {
    const event = sampleEpisodeEvent('StepRecorded');
    expect(problemOf({ ...event, payload: { ...event.payload, colour: 'red' } })).toBe(
      'StepRecorded.payload.colour is "red"; must be absent: the schema has no such field',
    );
  });

  it('of nested JSON may not be deeper than a parser can take', () => {
    let info: unknown = 0;
    for (let depth = 0; depth < 102; depth += 1) info = [info];
    expect(stepProblem({ info })).toMatch(/must be nested at most 100 deep/);
  });
});

describe('token columns', () => {
  const step = sampleStep();

  it.each<[string, Partial<StepRecorded>, string]>([
    [
      'unequal lengths',
      { actionMask: new Uint8Array(25) },
      'actionMask.length is 25; must be as long as tokenIds, which has 26 tokens',
    ],
    [
      'experts that are not as many for each token',
      { tokenRoutedExperts: new Int32Array(27) },
      'tokenRoutedExperts.length is 27',
    ],
    ['no experts', { tokenRoutedExperts: new Int32Array(0) }, 'tokenRoutedExperts.length is 0'],
    ['a short optional column', { tokenEntropies: new Float32Array(2) }, 'tokenEntropies.length is 2'],
    ['a negative token id', { tokenIds: step.tokenIds.with(3, -1) }, 'tokenIds[3] is -1; must be ≥ 0'],
    ['a mask value of 2', { actionMask: step.actionMask.with(25, 2) }, 'actionMask[25] is 2; must be 0 or 1'],
    [
      'an observation token after an action token',
      { actionMask: step.actionMask.with(25, 0) },
      'actionMask[25] is 0; must be 1',
    ],
    [
      'a logprob where nothing was sampled',
      { tokenLogprobs: step.tokenLogprobs.with(0, -1) },
      'tokenLogprobs[0] is -1; must be 0 where actionMask is 0',
    ],
    [
      'NaN where nothing was sampled',
      { tokenLogprobs: step.tokenLogprobs.with(0, NaN) },
      'tokenLogprobs[0] is NaN; must be 0',
    ],
    [
      'a positive logprob',
      { tokenLogprobs: step.tokenLogprobs.with(25, 0.5) },
      'tokenLogprobs[25] is 0.5; must be a finite logprob ≤ 0',
    ],
    [
      'an infinite logprob',
      { tokenLogprobs: step.tokenLogprobs.with(25, -Infinity) },
      'tokenLogprobs[25] is -Infinity',
    ],
    [
      'a known logprob in mode none',
      { logprobMode: 'none' },
      'must be NaN where actionMask is 1, because logprobMode is none',
    ],
    [
      'a positive raw logprob',
      { tokenRawLogprobs: step.tokenLogprobs.with(25, 1) },
      'tokenRawLogprobs[25] is 1',
    ],
    ['a negative entropy', { tokenEntropies: step.tokenLogprobs.with(25, -1) }, 'tokenEntropies[24]'],
    [
      'a policy version below −1',
      { tokenPolicyVersions: step.tokenPolicyVersions.with(4, -2) },
      'tokenPolicyVersions[4] is -2; must be ≥ -1',
    ],
  ])('with %s are refused', (_title, change, problem) => {
    expect(stepProblem(change)).toContain(problem);
  });

  it('may end a rounding error above logprob 0', () => {
    expect(stepProblem({ tokenLogprobs: step.tokenLogprobs.with(25, 1e-6) })).toBeNull();
  });
});

describe('fields that must agree', () => {
  it('in a step: place, components, first prefix', () => {
    expect(problemOf(sampleEpisodeEvent('StepRecorded', {}, 2))).toContain(
      'StepRecorded.seq is 2; must be step + 1 = 1',
    );
    expect(stepProblem({ rewardNames: ['goal'] })).toContain(
      'rewardValues.length is 2; must be the number of rewardNames, 1',
    );
    expect(stepProblem({ rewardValues: Float64Array.of(Infinity, 0) })).toContain(
      'rewardValues[0] is Infinity',
    );
    expect(stepProblem({ keptPrefixTokens: 1 })).toContain('keptPrefixTokens is 1; must be 0 in step 0');
  });

  it('in a start and an end', () => {
    expect(problemOf(sampleEpisodeEvent('EpisodeStarted', {}, 1))).toContain('seq is 1; must be 0');
    expect(problemOf(sampleEpisodeEvent('EpisodeStarted', { groupMember: 2 }))).toContain(
      'must be < groupSize, which is 2',
    );
    const endProblem = (change: object): string | null =>
      problemOf(sampleEpisodeEvent('EpisodeEnded', change));
    expect(endProblem({ numSteps: 2 })).toContain('seq is 2; must be numSteps + 1 = 3');
    expect(endProblem({ endReason: 'abandoned' })).toContain('endDetail is ""; must say why');
    expect(endProblem({ numActionTokens: 27 })).toContain('must be ≤ numTokens, which is 26');
    expect(endProblem({ finalKeptPrefixTokens: 27 })).toContain('must be ≤ numTokens, which is 26');
    expect(endProblem({ finalTokenIds: Int32Array.of(1, -1) })).toContain(
      'finalTokenIds[1] is -1; must be ≥ 0',
    );
    expect(endProblem({ policyVersionMin: 4 })).toContain('must be ≤ policyVersionMax, which is 3');
    expect(endProblem({ policyVersionMin: -1 })).toContain('must be ≥ 0, as policyVersionMax is');
  });

  it('in control events', () => {
    const closingProblem = (change: Partial<PayloadOf<'GroupsClosed'>>) =>
      controlProblem('GroupsClosed', change);
    expect(closingProblem({ groupSizes: Int32Array.of(1, 1) })).toContain(
      'memberOffsets[1] − memberOffsets[0] is 2; must be from 0 to groupSizes[0], 1',
    );
    expect(closingProblem({ groupSizes: Int32Array.of(3, 1) })).toContain('because the group is complete');
    expect(closingProblem({ groupSizes: Int32Array.of(3, 1), reason: 'deadline' })).toBeNull();
    expect(closingProblem({ groupSizes: Int32Array.of(2) })).toContain(
      'groupSizes.length is 1; must be the number of groupIds, 2',
    );
    expect(closingProblem({ memberOffsets: Int32Array.of(0, 3, 2) })).toContain(
      '; must go from 0 to the number of episodeIds, 3',
    );
    expect(
      closingProblem({ memberOffsets: Int32Array.of(0, 4, 3), groupSizes: Int32Array.of(4, 1) }),
    ).toContain('memberOffsets[2] − memberOffsets[1] is -1');
    expect(closingProblem({ policyVersionMin: Int32Array.of(5, -1) })).toContain('policyVersionMax');
    expect(closingProblem({ groupIds: ['a', 'a'] })).toContain('groupIds');
    expect(closingProblem({ numSteps: Int32Array.of(1) })).toContain(
      'numSteps.length is 1; must be the number of episodeIds, 3',
    );
    expect(controlProblem('CollectorClaimed', { shareIndex: 2 })).toBe(
      'CollectorClaimed.payload.shareIndex is 2; must be < numShares, 2',
    );
    expect(controlProblem('CollectorClaimed', { places: Int32Array.of(1, 4) })).toContain(
      'places[1] is 4; must be from 0 to numGroups − 1, 3',
    );
    expect(controlProblem('CollectorClaimed', { places: Int32Array.of(1, 1) })).toContain(
      'must be listed once',
    );
    expect(controlProblem('CollectorClaimed', { places: Int32Array.of(1) })).toContain(
      'places.length is 1; must be the number of groupIds, 2',
    );
    expect(controlProblem('BatchPlanned', { numSteps: Int32Array.of(1, -4) })).toContain(
      'numSteps[1] is -4; must be ≥ 0',
    );
    const twice = { ...OWN_GROUPS_ONLY, groupIds: ['a', 'a'] };
    expect(controlProblem('BatchPlanned', twice)).toContain('groupIds[1] is "a"; must be listed once');
    // Groups of one id in two runs are two groups.
    const ofTwoRuns = { groupRuns: Int32Array.of(0, 1), episodeGroups: Int32Array.of(0, 1) };
    expect(controlProblem('BatchPlanned', { ...twice, ...ofTwoRuns, runIds: [PARENT_RUN] })).toBeNull();
    expect(controlProblem('BatchPlanned', { groupRuns: Int32Array.of(2) })).toContain(
      'groupRuns[0] is 2; must be from 0 to 1, the number of runIds',
    );
    expect(controlProblem('BatchPlanned', { episodeGroups: null })).toContain(
      'episodeGroups is null; must not be null where groupRuns is not',
    );
    expect(controlProblem('BatchPlanned', { groupRows: Int32Array.of(-2) })).toContain(
      'groupRows[0] is -2; must be ≥ -1',
    );
    expect(controlProblem('BatchPlanned', { groupWeights: new Float64Array(2) })).toContain(
      'groupWeights.length is 2; must be the number of groupIds, 1',
    );
    expect(controlProblem('UpdateApplied', { metricNames: ['a'] })).toContain(
      'metricValues.length is 2; must be the number of metricNames, 1',
    );
    expect(controlProblem('MetricsLogged', { names: [] })).toContain('values.length is 2');
    expect(controlProblem('PolicyPublished', { parentVersion: 4 })).toContain(
      'must be null or < policyVersion, which is 4',
    );
    expect(controlProblem('PolicyPublished', { weights: { sha256: '', sizeBytes: 0 } })).toBeNull();
    expect(controlProblem('PolicyPublished', { weights: { sha256: '', sizeBytes: 7 } })).toContain(
      'weights.sizeBytes is 7',
    );
    expect(controlProblem('UpdateApplied', { weights: { sha256: 'abc', sizeBytes: 1 } })).toContain(
      'weights.sha256 is "abc"; must be a SHA-256',
    );
  });
});

describe('assertValidEvent', () => {
  it('throws INVALID_EVENT with the field, the value and the rule', () => {
    const event = sampleEpisodeEvent('StepRecorded', { reward: NaN });
    expect(() => assertValidEvent(event)).toThrow(
      expect.objectContaining({
        name: 'TrajectoryError',
        code: 'INVALID_EVENT',
        retriable: false,
        message: 'StepRecorded.payload.reward is NaN; must be null or a finite number',
      }) as Error,
    );
  });
});
