// The numbers that kernels know the activations by (kernels/portable.cuh, Activation).
import type { Activation } from "../../reservoir/model.js";

export const activationNumber: Readonly<Record<Activation, number>> = { tanh: 0, identity: 1, relu: 2, sigmoid: 3 };
