export { JinjaError, type JinjaErrorCode } from './jinja-error.js';
export { Template, type RenderedText, type TemplateOptions } from './template.js';
export { jsonField, parseJson } from './values/json.js';
export type { OriginSpan } from './values/traced-text.js';
export { Dict, toValue, type Value } from './values/value.js';
