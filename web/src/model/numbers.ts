/** How numbers are written: exactly as Python's `repr` does, or short for a small place. */

/** Python's `repr` of a float. */
export function repr(x: number): string {
  if (x !== x) return "nan";
  if (x === Infinity) return "inf";
  if (x === -Infinity) return "-inf";
  if (x === 0) return Object.is(x, -0) ? "-0.0" : "0.0";
  const [mantissa, power] = x.toExponential().split("e");
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 16) {
    const text = exponent < 0 ? x.toFixed(Math.max(0, digits(mantissa) - 1 - exponent)) : plain(mantissa, exponent);
    return text.includes(".") ? text : `${text}.0`;
  }
  const sign = exponent < 0 ? "-" : "+";
  return `${mantissa}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/**
 * As Python writes it, with few significant digits; 0 for all of them. A whole part is never cut, and a zero has no sign.
 */
export function rounded(x: number, significant: number): string {
  if (significant === 0 || !Number.isFinite(x)) return repr(x);
  if (x === 0) return "0.0";
  if (Number.isInteger(x) && Math.abs(x) < 1e15) return repr(x);
  const exponent = Math.floor(Math.log10(Math.abs(x)));
  if (exponent < significant - 1) return repr(Number(x.toPrecision(significant)));
  return exponent < 15 ? x.toFixed(1) : repr(x);
}

function digits(mantissa: string): number {
  return mantissa.replace(/[-.]/g, "").length;
}

/** The mantissa with its point moved `exponent` places to the right. */
function plain(mantissa: string, exponent: number): string {
  const negative = mantissa.startsWith("-");
  const all = mantissa.replace(/[-.]/g, "").padEnd(exponent + 1, "0");
  const rest = all.slice(exponent + 1);
  return `${negative ? "-" : ""}${all.slice(0, exponent + 1)}${rest ? `.${rest}` : ""}`;
}

/** Few digits, a real minus sign, and never a number that looks whole when it is not. */
export function short(x: number, significant = 4): string {
  if (x !== x) return "NaN";
  if (Math.abs(x) === Infinity) return x > 0 ? "∞" : "−∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  let text: string;
  if (Number.isInteger(x) && size < 1e6) text = String(size);
  else if (size >= 1e5 || size < 1e-3) {
    const [mantissa, power] = size.toExponential(significant - 2).split("e");
    text = `${trimmed(mantissa)}e${power.replace("+", "").replace("-", "−")}`;
  } else {
    text = trimmed(size.toPrecision(significant));
    if (Number(text) !== size && !text.includes(".")) text = size.toFixed(1);
  }
  return x < 0 ? `−${text}` : text;
}

function trimmed(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** A number as C's `%g` writes it. */
export function general(x: number): string {
  if (x !== x) return "nan";
  if (Math.abs(x) === Infinity) return x > 0 ? "inf" : "-inf";
  if (x === 0) return Object.is(x, -0) ? "-0" : "0";
  const [mantissa, power] = x.toExponential(5).split("e");
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return trimmed(x.toFixed(5 - exponent));
  return `${trimmed(mantissa)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** A short number that always carries its sign, so that colour is never the only word. */
export function signed(x: number, significant = 4): string {
  return x > 0 ? `+${short(x, significant)}` : short(x, significant);
}

/** A whole number with commas; the browser's own way to write them takes longer to wake up than the page to draw. */
export function thousands(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** What a JSON number of the trace stands for: NaN and infinities are strings there. */
export function fromJson(value: number | string): number {
  return typeof value === "number" ? value : Number(value);
}

const EXPONENT = /[eE][-+\u2212]?[0-9]+/;

/** A number as people type it, with a comma or as a fraction too; NaN when it is none, or is larger than a number can be. */
export function typedNumber(text: string): number {
  const [top, bottom, more] = text.trim().replace(/^\+/, "").replace(",", ".").split("/");
  const number = readNumber(top);
  if (Math.abs(number) === Infinity && /\d/.test(top)) return NaN;
  if (bottom === undefined) return number;
  return more === undefined ? number / readNumber(bottom) : NaN;
}

/** What a program or a link writes as a number; NaN when it is none. */
export function readNumber(text: string): number {
  const cleaned = text.trim().replace(/\u2212/g, "-");
  if (/^[-+]?(inf|infinity|∞)$/i.test(cleaned)) return cleaned.startsWith("-") ? -Infinity : Infinity;
  if (!/^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/.test(cleaned) && !EXPONENT.test(cleaned)) return NaN;
  return cleaned === "" ? NaN : Number(cleaned);
}
