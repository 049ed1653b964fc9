export { contentChecksum } from '../content-checksum.js';
export { decodeEvent, type DeadLetter, type DeadLetterCode, type DecodedEvent } from './decode-event.js';
export { encodeEvent } from './encode-event.js';
export { WIRE_VERSION } from './frame.js';
export { peekEnvelope, type PeekedEnvelope } from './peek-envelope.js';
export { StepRecord } from './step-record.js';
