module.exports = require('@tensorflow/tfjs-core');
