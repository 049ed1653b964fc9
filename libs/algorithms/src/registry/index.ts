export { NamedRegistry } from './named-registry.js';
export { nearNames } from './near-names.js';
export {
  choice,
  flag,
  fraction,
  moreThan,
  nonNegative,
  nullable,
  positive,
  positiveFraction,
  real,
  text,
  textList,
  resolveOptions,
  wholeNumber,
  type OptionSchema,
  type OptionSpec,
  type OptionsOf,
} from './option-schema.js';
