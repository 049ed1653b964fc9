export { importModule, ModuleFault, PACKAGES_OF_MODULES } from './import-module.js';
