// The embedded database of a test ends before optimised code repays its compilation, 0.3 seconds of the processor.
require('node:v8').setFlagsFromString('--wasm-tiering-budget=1000000000');
