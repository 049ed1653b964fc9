/** The torch engine and how its worker is started. A process that trains on TensorFlow.js loads none of it. */
export { engineCommand, pythonEnvironment } from './engine-process.js';
export { TorchEngine } from './torch-engine.js';
export { ENGINE_PACKAGES, engineInstallation, requireEnginePackages } from './require-packages.js';
