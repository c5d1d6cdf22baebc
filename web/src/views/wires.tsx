/** Wires: one for every operand occurrence, with what it has carried back. */

import type { JSX } from "preact";
import { signed } from "../model/numbers";
import type { Scene, Wire } from "../layout/scene";
import { addsUnseen } from "../state/state";
import type { State } from "../state/store";
import { wireLabel } from "./labels";
import { Marked, type Props } from "./marked";
import { strength, tone } from "../parts/tone";

/** Up to this many wires carry their contribution as a label. */
const LABELLED = 60;

interface WireProps extends Props {
  readonly wire: Wire;
  readonly index: number;
  readonly mark: string;
}

/** What a wire looks like now: its classes, and what it has carried back. */
export function wireMark(state: State, wire: Wire, followed: ReadonlySet<number> | null): string {
  const { shown, step, selection } = state;
  const { graph } = shown;
  const result = graph.to[wire.edges[0]];
  const back = addsUnseen(state, Math.max(0, shown.visitStep(result))) ? null : carriedBack(state, wire);
  const here = step > shown.forwardCount ? shown.nodeOf(step) : null;
  const now = here !== null && wire.edges.some((edge) => graph.to[edge] === here && graph.isVariable(graph.from[edge]));
  const forward = !shown.isBackward(step) && wire.edges.some((edge) => shown.dataStep(graph.to[edge]) === step && step > 0);
  const classes = ["wire", back === null ? "plain" : tone(back)];
  if (now || forward) classes.push("now");
  if (selection?.kind === "edge" && wire.edges.includes(selection.id)) classes.push("chosen");
  if (back !== null) classes.push("back");
  if (wire.edges.length > 1) classes.push("bundle");
  if (back === null && !shown.hasData(result, step)) classes.push("ahead");
  if (wire.edges.some((edge) => followed?.has(edge))) classes.push("follow");
  return `${classes.join(" ")}|${back ?? ""}`;
}

/** What a wire has carried backward until now: its contributions in all, or null when none came yet. */
function carriedBack(state: State, wire: Wire): number | null {
  const { shown, step } = state;
  if (step <= shown.forwardCount) return null;
  let total: number | null = null;
  for (const edge of wire.edges) {
    const visit = shown.visitStep(shown.graph.to[edge]);
    if (visit < 0 || visit > step || !shown.graph.isVariable(shown.graph.from[edge])) continue;
    total ??= 0;
    for (const item of shown.additionsOf(visit)) {
      if (shown.additions.edge[item] === edge) total += Math.abs(shown.additions.contribution[item]) * (wire.edges.length > 1 ? 1 : Math.sign(shown.additions.contribution[item]));
    }
  }
  return total;
}

export class WireView extends Marked<WireProps> {
  override render(): JSX.Element {
    const { wire, index, store, state, mark } = this.props;
    const [classes, carried] = mark.split("|");
    const back = carried === "" ? null : Number(carried);
    const path = state.scene.paths[index];
    const single = wire.edges.length === 1;
    const pick = (): void => store.select(single ? { kind: "edge", id: wire.edges[0] } : null);
    const chip = back !== null && single && state.scene.wires.length <= LABELLED ? chipText(state, wire.edges[0], back) : null;
    const label = wireLabel(state, wire) + (chip === null ? "" : `, carried back: ${chip}`);
    return (
      <g class={classes} onClick={pick} role={single ? "button" : undefined} aria-label={single ? label : undefined} data-edge={single ? wire.edges[0] : undefined}>
        <title>{label}</title>
        <path class="hit" d={path} />
        <path
          class="line"
          id={`wire-${wire.edges[0]}`}
          d={path}
          style={back === null ? undefined : { strokeWidth: `${1.4 + 2.2 * strength(back)}px` }}
          marker-end={back === null ? "url(#arrow-plain)" : undefined}
          marker-start={back === null ? undefined : `url(#arrow-${tone(back)})`}
        />
        {chip !== null && <WireChip state={state} index={index} text={chip} />}
      </g>
    );
  }
}

function chipText(state: State, edge: number, value: number): string {
  return state.shown.zero[edge] ? "closed" : signed(value, 3);
}

/** The contribution, printed where the wire leaves its operand's neighbourhood. */
function WireChip({ state, index, text }: { state: State; index: number; text: string }): JSX.Element {
  const { x, y } = chipPlaces(state.scene)[index];
  const width = 9 + 6.2 * text.length;
  return (
    <g class="chip" transform={`translate(${x},${y})`} aria-hidden="true">
      <rect x={-width / 2} y={-9} width={width} height={18} rx={9} />
      <text y={3.8}>{text}</text>
    </g>
  );
}

interface Place {
  readonly x: number;
  readonly y: number;
}

const places = new WeakMap<Scene, readonly Place[]>();
/** The parts of a wire at which its chip may stand, the best first. */
const ALONG = [0.5, 0.35, 0.65, 0.25, 0.75];
/** About as large as a chip. */
const CHIP = { width: 58, height: 20 };

/** Where each wire's chip stands, so that none covers another where that can be avoided. */
function chipPlaces(scene: Scene): readonly Place[] {
  let found = places.get(scene);
  if (found === undefined) {
    const taken: Place[] = [];
    for (const route of scene.layout.routes) {
      const candidates = ALONG.map((t) => alongWire(route[0], route[1], t, scene.vertical));
      const covers = ({ x, y }: Place): number => taken.filter((other) => Math.abs(other.x - x) < CHIP.width && Math.abs(other.y - y) < CHIP.height).length;
      taken.push(candidates.reduce((best, own) => (covers(own) < covers(best) ? own : best)));
    }
    places.set(scene, (found = taken));
  }
  return found;
}

/** A point of the curve that `pathOf` draws from a to b. */
function alongWire(a: Place, b: Place, t: number, vertical: boolean): Place {
  const across = 3 * t * t - 2 * t * t * t;
  const between = (from: number, to: number, part: number): number => from + (to - from) * part;
  // The control points stand half way along: the way across is eased, the way along is a cubic with both of them in the middle.
  const middle = 1.5 * t * (1 - t) * (1 - t) + 1.5 * t * t * (1 - t) + t * t * t;
  return vertical ? { x: between(a.x, b.x, across), y: between(a.y, b.y, middle) } : { x: between(a.x, b.x, middle), y: between(a.y, b.y, across) };
}
