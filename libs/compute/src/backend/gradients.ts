/**
 * Registers the gradients of all ops, and tensor methods such as `x.add(y)`. tfjs-core's Node bundle leaves both to
 * the union package, whose import costs about 80 ms; tfjs-node's kernels need it anyway.
 */
import '@tensorflow/tfjs';
