import type { JsonObject, JsonValue } from '@retrace/client';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { knownDefaults } from '../servers/model-servers.js';
import { CHAT_COMPLETIONS } from './chat-completions.js';

const PREPARED = CHAT_COMPLETIONS.open({ model: 'm', messages: [], stream: true }, knownDefaults('other'));
const WEATHER = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city": "Oslo"}' } };
const CLOCK = { id: 'c2', type: 'function', function: { name: 'clock', arguments: '{"tz": "UTC"}' } };

function readWhole(message: JsonObject) {
  return PREPARED.read({ status: 200, body: { choices: [{ index: 0, message, finish_reason: 'stop' }] } });
}

function readDeltas(deltas: readonly JsonObject[]) {
  const reader = PREPARED.reader();
  const send = (choice: JsonObject) => {
    reader.add({ event: null, data: JSON.stringify({ choices: [{ index: 0, ...choice }] }) });
  };
  for (const delta of deltas) send({ delta, finish_reason: null });
  send({ delta: {}, finish_reason: 'stop' });
  return reader.finish(true);
}

const callDeltas = (...lists: readonly (readonly JsonObject[])[]) =>
  lists.map((calls) => ({ tool_calls: calls }));

describe('parallel tool calls of a stream', () => {
  const more = (given: string): JsonObject => ({ function: { arguments: given } });
  const begun = ({ function: { name }, ...call }: typeof WEATHER, given: string): JsonObject => ({
    ...call,
    function: { name, arguments: given },
  });

  it.each<[string, JsonObject[]]>([
    ['have the same index', callDeltas([{ index: 0, ...WEATHER }], [{ index: 0, ...CLOCK }])],
    ['have no index', callDeltas([WEATHER], [CLOCK])],
    ['come in one delta without indexes', callDeltas([WEATHER, CLOCK])],
    [
      'have no index, and come in pieces',
      callDeltas([begun(WEATHER, '{"city"')], [more(': "Oslo"}')], [CLOCK]),
    ],
    [
      'come in pieces that only their position tells apart',
      callDeltas([begun(WEATHER, '{"city"'), begun(CLOCK, '{"tz"')], [more(': "Oslo"}'), more(': "UTC"}')]),
    ],
    [
      'come in pieces in turn that have their ids, and the same index',
      callDeltas(
        [{ index: 0, ...begun(WEATHER, '{"city"') }],
        [{ index: 0, ...begun(CLOCK, '{"tz"') }],
        [{ index: 0, id: 'c1', ...more(': "Oslo"}') }],
        [{ index: 0, id: 'c2', ...more(': "UTC"}') }],
      ),
    ],
    [
      'have another id in each piece, as older versions of vLLM write',
      callDeltas(
        [{ index: 0, ...begun(WEATHER, '') }],
        [{ index: 0, id: 'x1', ...more('{"city": "Oslo"}') }],
        [{ index: 1, ...begun(CLOCK, '') }],
        [{ index: 1, id: 'x2', ...more('{"tz": "UTC"}') }],
      ),
    ],
  ])('are two where they %s', (_, deltas) => {
    const call = readDeltas(deltas);
    expect(call.hole).toBeUndefined();
    expect(call.output?.tool_calls).toEqual([WEATHER, CLOCK]);
  });

  it('are two where neither has an id, and both call the same tool', () => {
    const bergen = { function: { name: 'weather', arguments: '{"city": "Bergen"}' } };
    const oslo = { function: WEATHER.function };
    const call = readDeltas(callDeltas([{ index: 0, ...oslo }], [{ index: 0, id: '', ...bergen }]));
    expect(call.output?.tool_calls).toEqual([
      { ...WEATHER, id: '' },
      { id: '', type: 'function', ...bergen },
    ]);
  });

  it('are one where a server repeats the id and the name in each piece', () => {
    const call = readDeltas(
      callDeltas(
        [{ index: 0, ...begun(WEATHER, '{"city": ') }],
        [{ index: 0, ...begun(WEATHER, '"Oslo"}') }],
      ),
    );
    expect(call.output?.tool_calls).toEqual([WEATHER]);
  });

  it('have arguments as JSON text where the server sent an object, streamed and whole', () => {
    const asObject = { id: 'c1', function: { name: 'weather', arguments: { city: 'Oslo' } } };
    const output = {
      role: 'assistant',
      content: null,
      tool_calls: [{ ...WEATHER, function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
    };
    expect(readWhole({ tool_calls: [asObject] }).output).toEqual(output);
    expect(readDeltas(callDeltas([{ index: 0, ...asObject }])).output).toEqual(output);
  });

  it('of the older form with one function are recorded too', () => {
    const deltas = [
      { function_call: { name: 'weather', arguments: '' } },
      { function_call: more('{}').function },
    ];
    expect(readDeltas(deltas).output?.tool_calls).toEqual([
      { id: '', type: 'function', function: { name: 'weather', arguments: '{}' } },
    ]);
  });
});

describe('reasoning', () => {
  const TEXT = 'two and two';
  it.each<[string, JsonObject]>([
    ['reasoning_content', { reasoning_content: TEXT }],
    ['reasoning', { reasoning: TEXT }],
    ['reasoning beside an empty reasoning_content', { reasoning_content: '', reasoning: TEXT }],
    ['thinking', { thinking: TEXT }],
    ['reasoning_details', { reasoning_details: [{ type: 'reasoning.text', text: TEXT, index: 0 }] }],
    ['a summary in reasoning_details', { reasoning_details: [{ type: 'reasoning.summary', summary: TEXT }] }],
    [
      'reasoning and the same in reasoning_details',
      { reasoning: TEXT, reasoning_details: [{ type: 'reasoning.text', text: TEXT }] },
    ],
    ['a part of type thinking', { content: [{ type: 'thinking', thinking: TEXT, signature: 's' }] }],
    ['a part of type reasoning', { content: [{ type: 'reasoning', text: TEXT }] }],
    [
      'a part with a list of texts, as Mistral writes',
      { content: [{ type: 'thinking', thinking: [{ type: 'text', text: TEXT }] }] },
    ],
  ])('in %s is stored, streamed, whole and in the prompt', (_, fields) => {
    const output = { role: 'assistant', content: '4', reasoning_content: TEXT };
    const parts = Array.isArray(fields.content) ? (fields.content as readonly JsonValue[]) : [];
    const message = { role: 'assistant', ...fields, content: [...parts, { type: 'text', text: '4' }] };
    expect(readWhole(message).output).toEqual(output);
    expect(readDeltas([fields, { content: '4' }])).toMatchObject({ output, isCut: false });
    expect(CHAT_COMPLETIONS.open({ messages: [message] }, knownDefaults('other')).prompt).toEqual([output]);
  });

  it('that is neither a text nor parts is a hole, streamed and whole', () => {
    expect(readWhole({ content: '4', thinking: 7 }).hole).toBe('thinking of the answer could not be read');
    expect(readDeltas([{ content: '4' }, { thinking: 7 }])).toMatchObject({
      isCut: true,
      output: { content: '4' },
    });
  });
});

/** A text cut into pieces that are not empty. */
const pieces = (alphabet: readonly string[], maxLength = 4) =>
  fc.array(fc.string({ unit: fc.constantFrom(...alphabet), minLength: 1, maxLength: 5 }), { maxLength });
const words = pieces(['a', ' ', '"', '\n', '😀']);
const asText = (text: string): JsonObject => ({ type: 'text', text });
const IMAGE = { type: 'image_url', image_url: { url: 'https://images.example/1.png' } };

/** A message whole, and the deltas of it in the order in which they come. */
interface CutMessage {
  readonly whole: JsonObject;
  readonly deltas: readonly JsonObject[];
}

const content: fc.Arbitrary<CutMessage> = fc
  .record({ said: words, isParts: fc.boolean(), image: fc.boolean(), more: words })
  .map(({ said, isParts, image, more }) => {
    const text = said.join('');
    const rest = more.join('');
    if (!isParts) return { whole: { content: text }, deltas: said.map((piece) => ({ content: piece })) };
    const blocks = image ? [IMAGE] : [];
    const after = rest === '' ? [] : [asText(rest)];
    return {
      whole: { content: [...(text === '' ? [] : [asText(text)]), ...blocks, ...(image ? after : [])] },
      deltas: [
        ...said.map((piece, i) => ({ content: i % 2 === 0 ? [asText(piece)] : piece })),
        ...blocks.map((block) => ({ content: [block] })),
        ...(image ? more.map((piece) => ({ content: [asText(piece)] })) : []),
      ],
    };
  });

const reasoning: fc.Arbitrary<CutMessage> = fc
  .record({
    thought: words,
    field: fc.constantFrom('reasoning_content', 'reasoning', 'thinking', 'reasoning_details'),
  })
  .map(({ thought, field }) => {
    const value = (text: string): JsonValue =>
      field === 'reasoning_details' ? [{ type: 'reasoning.text', text, index: 0 }] : text;
    return {
      whole: { [field]: value(thought.join('')) },
      deltas: thought.map((piece) => ({ [field]: value(piece) })),
    };
  });

const STYLES = [
  'by index',
  'equal indexes',
  'equal indexes and ids',
  'no index',
  'no index but ids',
  'whole',
] as const;

const calls: fc.Arbitrary<CutMessage> = fc
  .record({
    given: fc.array(fc.record({ name: fc.constantFrom('weather', 'clock'), args: words }), { maxLength: 4 }),
    style: fc.constantFrom(...STYLES),
    order: fc.infiniteStream(fc.nat()),
  })
  .map(({ given, style, order }) => {
    const isWhole = style === 'whole';
    const told = given.map(({ name, args }, i) => ({
      name,
      id: isWhole ? '' : `c${i}`,
      args: isWhole ? [JSON.stringify({ text: args.join('') })] : args,
    }));
    const queues = told.map(({ name, id, args }, i) => {
      const index = style === 'by index' ? { index: i } : style.startsWith('no') ? {} : { index: 0 };
      const [first = '', ...rest] = args;
      return [
        { ...index, id, function: { name, arguments: first } },
        ...rest.map((piece) => ({
          ...index,
          ...(style.endsWith('ids') && { id }),
          function: { arguments: piece },
        })),
      ];
    });
    const canMix = style === 'by index' || style.endsWith('ids');
    return {
      whole: {
        tool_calls: told.map(({ name, id, args }) => ({
          id,
          type: 'function',
          function: { name, arguments: args.join('') },
        })),
      },
      deltas: callDeltas(...(canMix ? mixed(queues, order) : queues.flat()).map((piece) => [piece])),
    };
  });

/** Calls begin in their order; after that, their pieces come in any order. */
function mixed<T>(queues: readonly T[][], order: Iterator<number>): T[] {
  const pulled: T[] = queues.map(([first]) => first);
  const rests = queues.map(([, ...rest]) => rest);
  for (let open = rests; (open = open.filter(({ length }) => length > 0)).length > 0;)
    pulled.push(open[(order.next().value as number) % open.length].shift()!);
  return pulled;
}

it('a message is stored alike whole and cut into deltas, whatever tells the pieces of its tool calls apart', () => {
  fc.assert(
    fc.property(content, reasoning, calls, (said, thought, called) => {
      const all = [said, thought, called];
      const whole = Object.assign({ role: 'assistant' }, ...all.map((part) => part.whole)) as JsonObject;
      const deltas = [thought, said, called].flatMap((part) => part.deltas);
      expect(readDeltas([{ role: 'assistant', content: '' }, ...deltas])).toEqual(readWhole(whole));
    }),
    { numRuns: 200 },
  );
});
