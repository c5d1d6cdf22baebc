/** The colours and the file of an overview: what the canvas shows, as an SVG that can be scaled and printed. */

import { LEAF } from "../model/graph";
import { short } from "../model/numbers";
import { isCovered } from "../state/state";
import type { State } from "../state/store";
import { strength, tone } from "../parts/tone";

const NAMES = { paper: "--paper", wire: "--wire", plus: "--plus", minus: "--minus", zero: "--faint", card: "--card", ink: "--ink", line: "--strong" } as const;
export type Colors = Readonly<Record<keyof typeof NAMES, string>>;
export const NO_COLORS: Colors = { paper: "#fff", wire: "#999", plus: "#0072b2", minus: "#b84a00", zero: "#999", card: "#fff", ink: "#000", line: "#999" };

/**
 * The page's colours as a canvas and a file can use them.
 *
 * A custom property comes as it was written, `light-dark(…)`; as the colour of an element it comes as what it means there.
 */
export function colorsOf(element: HTMLElement | SVGElement): Colors {
  const { style } = element;
  const before = style.color;
  const resolved = Object.entries(NAMES).map(([name, property]) => {
    style.color = `var(${property})`;
    return [name, getComputedStyle(element).color];
  });
  style.color = before;
  return Object.fromEntries(resolved) as Colors;
}

const MARGIN = 24;

function escaped(text: string): string {
  return text.replace(/[\u0000-\u001f]/g, " ").replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

/** The whole overview as the text of an SVG file. */
export function overviewSvg(state: State, colors: Colors): string {
  const { scene, shown, step } = state;
  const { graph } = shown;
  const { width, height } = scene.layout;
  const whole = (x: number): number => Math.round(x);
  const wires = scene.layout.routes.map((route) => `M${route.map(({ x, y }) => `${whole(x)},${whole(y)}`).join("L")}`).join("");
  const boxes = scene.items.map((item, index) => {
    const at = scene.layout.centres[index];
    const { width: w, height: h } = item.box;
    const [x, y] = [whole(at.x - w / 2), whole(at.y - h / 2)];
    const { node } = item;
    const name = node === null ? (item.group?.name ?? "") : graph.names[node];
    const grad = node === null || isCovered(state, node) || !graph.isVariable(node) ? null : shown.gradient(node, step);
    const what = node === null ? "" : `${short(shown.data[node])}  ${graph.kinds[node] === LEAF ? "input" : graph.formula(node)}`;
    const bar = grad === null ? "" : `<rect x="${x}" y="${y + h - 8}" width="${w}" height="8" fill="${colors[tone(grad)]}" opacity="${(0.15 + 0.85 * strength(grad)).toFixed(2)}"/>`;
    return (
      `<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="${colors.card}" stroke="${colors.line}"/>${bar}` +
      `<text x="${x + 8}" y="${y + 20}" font-weight="600">${escaped(name.slice(0, 15))}</text>` +
      (what && `<text x="${x + 8}" y="${y + 40}">${escaped(what.slice(0, 18))}</text>`)
    );
  });
  const [w, h] = [whole(width + 2 * MARGIN), whole(height + 2 * MARGIN)];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="${-MARGIN} ${-MARGIN} ${w} ${h}">` +
    `<title>${escaped(graph.title)}</title><rect x="${-MARGIN}" y="${-MARGIN}" width="${w}" height="${h}" fill="${colors.paper}"/>` +
    `<path d="${wires}" fill="none" stroke="${colors.wire}" opacity="0.5"/>` +
    `<g font-family="monospace" font-size="12" fill="${colors.ink}">${boxes.join("")}</g></svg>`
  );
}
