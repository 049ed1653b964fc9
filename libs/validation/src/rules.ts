import { createRequire } from 'node:module';
import type * as ClassValidator from 'class-validator';

type Package = typeof ClassValidator;

const require = createRequire(import.meta.url);

/** Loads a file of class-validator that exports the value of the same name. */
function load<Name extends keyof Package>(folder: string, name: Name): Package[Name] {
  return (require(`class-validator/cjs/${folder}/${name}.js`) as Pick<Package, Name>)[name];
}

export const Allow = load('decorator/common', 'Allow');
export const IsDefined = load('decorator/common', 'IsDefined');
export const IsIn = load('decorator/common', 'IsIn');
export const IsNotEmpty = load('decorator/common', 'IsNotEmpty');
export const IsOptional = load('decorator/common', 'IsOptional');
export const ValidateBy = load('decorator/common', 'ValidateBy');
export const ValidateIf = load('decorator/common', 'ValidateIf');
export const ValidateNested = load('decorator/common', 'ValidateNested');

export const IsArray = load('decorator/typechecker', 'IsArray');
export const IsBoolean = load('decorator/typechecker', 'IsBoolean');
export const IsInt = load('decorator/typechecker', 'IsInt');
export const IsNumber = load('decorator/typechecker', 'IsNumber');
export const IsString = load('decorator/typechecker', 'IsString');

export const IsDivisibleBy = load('decorator/number', 'IsDivisibleBy');
export const Max = load('decorator/number', 'Max');
export const Min = load('decorator/number', 'Min');

export const IsISO8601 = load('decorator/string', 'IsISO8601');
export const IsUrl = load('decorator/string', 'IsUrl');
export const IsUUID = load('decorator/string', 'IsUUID');
export const Length = load('decorator/string', 'Length');
export const Matches = load('decorator/string', 'Matches');
export const MaxLength = load('decorator/string', 'MaxLength');

export const ArrayMaxSize = load('decorator/array', 'ArrayMaxSize');
export const ArrayMinSize = load('decorator/array', 'ArrayMinSize');
export const ArrayUnique = load('decorator/array', 'ArrayUnique');

/** The value that all rules of all classes are written into. */
export const getMetadataStorage: Package['getMetadataStorage'] = (
  require('class-validator/cjs/metadata/MetadataStorage.js') as Package
).getMetadataStorage;

const validator = new (load('validation', 'Validator'))();

/** Checks an object against the rules of its class, as class-validator's function of that name does. */
export const validateSync = (object: object, options: ClassValidator.ValidatorOptions) =>
  validator.validateSync(object, options);

/** The same as a promise, as Nest's `ValidationPipe` wants it. */
export const validate = (object: object, options?: ClassValidator.ValidatorOptions) =>
  validator.validate(object, options);
