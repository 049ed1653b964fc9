export { importModule, ModuleFault } from './import-module.js';
