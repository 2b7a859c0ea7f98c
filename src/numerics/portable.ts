// Elementary functions in binary64 from IEEE operations alone, so that weights, spikes, tasks and constants have the same bits
// in every JavaScript engine and on every device. Math.exp, log, sin, cos, pow and tanh may not be used for those.
