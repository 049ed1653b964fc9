/**
 * Registers tfjs-core's own gradients, with which tests differentiate the plain expressions that ops are compared with.
 * Opening a backend afterwards registers Retrace's in their place, so that those are what a test of the model runs.
 */
import '@tensorflow/tfjs-core/dist/register_all_gradients.js';
