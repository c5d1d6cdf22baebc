/** One token for each wire that a step uses: it carries its number to where it counts. Nothing moves under reduced motion. */

import { signed, short } from "../model/numbers";
import { addsUnseen } from "../state/state";
import type { State } from "../state/store";
import { tone } from "../parts/tone";

const SVG = "http://www.w3.org/2000/svg";
/** At most so many tokens at a time. */
const MOST = 24;

/** Start the tokens of the step just made. Returns what stops them. */
export function moveTokens(state: State, svg: SVGSVGElement, layer: SVGGElement): () => void {
  layer.replaceChildren();
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return () => undefined;
  const tokens = tokensOf(state).slice(0, MOST).flatMap(({ edge, text, kind, back }) => {
    const path = svg.querySelector<SVGPathElement>(`#wire-${edge}`);
    return path === null ? [] : [{ path, back, element: token(layer, text, kind), length: path.getTotalLength() }];
  });
  const duration = Math.min(380, 320 / Math.max(1, state.speed / 1.5));
  const start = performance.now();
  let frame = 0;
  const tick = (now: number): void => {
    const t = Math.min(1, (now - start) / duration);
    const eased = t < 0.5 ? 2 * t * t : 1 - 2 * (1 - t) * (1 - t);
    for (const { path, back, element, length } of tokens) {
      const point = path.getPointAtLength(length * (back ? 1 - eased : eased));
      element.setAttribute("transform", `translate(${point.x},${point.y})`);
    }
    if (t < 1) frame = requestAnimationFrame(tick);
    else layer.replaceChildren();
  };
  tick(start);
  return () => {
    cancelAnimationFrame(frame);
    layer.replaceChildren();
  };
}

interface Token {
  readonly edge: number;
  readonly text: string;
  readonly kind: string;
  readonly back: boolean;
}

function tokensOf(state: State): Token[] {
  const { shown, step } = state;
  const { graph, additions } = shown;
  const node = shown.nodeOf(step);
  if (node === null) return [];
  if (shown.isBackward(step)) {
    const unseen = addsUnseen(state, step);
    return shown.additionsOf(step).map((item) => {
      const contribution = additions.contribution[item];
      return { edge: additions.edge[item], text: unseen ? "?" : signed(contribution, 3), kind: unseen ? "plain" : tone(contribution), back: true };
    });
  }
  return graph.operandEdges(node).map((edge) => ({ edge, text: short(shown.data[graph.from[edge]], 3), kind: "plain", back: false }));
}

function token(layer: SVGGElement, text: string, kind: string): SVGGElement {
  const group = document.createElementNS(SVG, "g");
  group.setAttribute("class", `token ${kind}`);
  const box = document.createElementNS(SVG, "rect");
  const width = 12 + 7 * text.length;
  for (const [name, value] of Object.entries({ x: -width / 2, y: -11, width, height: 22, rx: 11 })) box.setAttribute(name, String(value));
  const label = document.createElementNS(SVG, "text");
  label.setAttribute("y", "4.2");
  label.textContent = text;
  group.append(box, label);
  layer.append(group);
  return group;
}
