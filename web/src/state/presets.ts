/** The gallery: programs with numbers, from the lessons and a little beyond. Their graphs are computed, never drawn by hand. */

export interface Preset {
  readonly name: string;
  readonly about: string;
  readonly text: string;
}

export const PRESETS: readonly Preset[] = [
  { name: "(a + b) · c", about: "The first graph of the lesson: addition distributes, multiplication swaps.", text: "a = 2; b = -3; c = 10; e = a + b; f = e * c" },
  { name: "a · b + c", about: "Data down, gradients up: both directions on one graph.", text: "a = 2; b = -3; c = 10; d = a * b; L = d + c" },
  { name: "One neuron", about: "tanh of a weighted sum; the bias is chosen so that the slope is one half.", text: "x1 = 2; x2 = 0; w1 = -3; w2 = 1; b = 6.881373587019543; n = x1*w1 + x2*w2 + b; o = tanh(n)" },
  { name: "a · a", about: "One value, two uses, two edges: 3 + 3 = 6.", text: "a = 3; f = a * a" },
  { name: "The diamond", about: "Two paths from one input: 6 and 9 add up to 15, if the order is right.", text: "a = 2; b = a + 1; c = a * 3; d = b * c" },
  { name: "relu(a · b + d)", about: "A gate: open it by raising a·b + d above zero, close it below.", text: "a = 2; b = -3; d = 10; c = a * b; e = c + d; f = relu(e)" },
  { name: "(a · b + c) · (a + b)", about: "Every input on two paths; do it on paper first.", text: "a = 2; b = -3; c = 10; d = a * b; e = d + c; f = a + b; L = e * f" },
  { name: "b = a + a, c = b + b", about: "Two doublings: each use counts, so that c grows four times as fast as a.", text: "a = 3; b = a + a; c = b + b" },
  { name: "An inner value, twice", about: "A short way and a long way meet inside the graph: here the order of visits matters.", text: "a = 3; b = a * 2; c = b * b; d = b + c" },
  { name: "A neuron of an MLP, with its loss", about: "Weighted sum, ReLU, squared error: one training example.", text: "x1 = 1.5; x2 = -0.5; w1 = 0.8; w2 = 0.3; b = 0.1; y = 2; h = relu(w1*x1 + w2*x2 + b); loss = (h - y)**2" },
  { name: "Softmax and cross-entropy", about: "Three logits, one right answer: the gradient is probability minus truth.", text: "a = 2; b = 1; c = -1; e1 = exp(a); e2 = exp(b); e3 = exp(c); s = e1 + e2 + e3; p = e1 / s; loss = -log(p)" },
  { name: "Attention over two tokens", about: "A query asks two keys; softmax weighs the two values.", text: "q = 1.2; k1 = 0.5; k2 = -0.8; v1 = 2; v2 = -1; s1 = q * k1; s2 = q * k2; e1 = exp(s1); e2 = exp(s2); z = e1 + e2; a1 = e1 / z; a2 = e2 / z; out = a1*v1 + a2*v2" },
];
