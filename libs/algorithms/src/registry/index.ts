export { NamedRegistry, type NamedRegistryOptions, type RegistryFault } from './named-registry.js';
export { nearNames } from './near-names.js';
export {
  choice,
  flag,
  fraction,
  moreThan,
  nonNegative,
  nullable,
  optionFault,
  positive,
  positiveFraction,
  real,
  text,
  textList,
  wholeNumber,
  withDefaults,
  type OptionSchema,
  type OptionSpec,
  type OptionsOf,
} from './option-schema.js';
