export { TinkerEngine } from './tinker-engine.js';
