export { type DeadLetterCode, type DecodedEvent, decodeEvent } from './decode-event.js';
export { encodeEvent } from './encode-event.js';
export { frame, FRAME_HEADER_BYTES, unframe } from './frame.js';
export { KnownEvents } from './known-events.js';
export { messagePack } from './body/messagepack.js';
export { type TypedColumn, hasElementsOf, packColumn, unpackInto } from './body/packed-column.js';
export { type PeekedEnvelope, peekEnvelope } from './peek-envelope.js';
export { FieldPlace, type StepField, StepRecord } from './step-record.js';
