/** How a number is shown beside its digits: the sign by hue and word, the size on one fixed logarithmic scale. */

export type Tone = "plus" | "minus" | "zero";

export function tone(x: number): Tone {
  return x > 0 ? "plus" : x < 0 ? "minus" : "zero";
}

/** 0 for 1e-6 and less, 1 for 1000 and more; the same in every run, so that two runs compare. */
export function strength(x: number): number {
  const size = Math.abs(x);
  if (!(size > 0)) return size !== size ? 1 : 0;
  return Math.max(0, Math.min(1, (Math.log10(size) + 6) / 9));
}
