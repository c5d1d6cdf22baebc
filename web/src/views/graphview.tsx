/** The graph: boxes with their numbers, a wire for every operand occurrence, values going right and gradients left. */

import { Component, createRef, type JSX } from "preact";
import type { Group } from "../model/fold";
import { LEAF } from "../model/graph";
import { pathTo } from "../model/lab";
import { signed, short, thousands } from "../model/numbers";
import type { Item, Wire } from "../layout/scene";
import { askedAbout, type State, type Store } from "../state/store";
import { groupRange, nodeLabel, wireLabel } from "./labels";
import { moveTokens } from "./tokens";
import { strength, tone } from "./tone";
import { ViewBox } from "./viewbox";

/** Below these scales a box shows its name and its gradient alone, larger; and then nothing but its colour. */
const FAR = 0.62;
const FARTHEST = 0.16;
/** Up to this many wires carry their contribution as a label. */
const LABELLED = 60;

interface Props {
  readonly store: Store;
  readonly state: State;
}

export class GraphView extends Component<Props> {
  private readonly svg = createRef<SVGSVGElement>();
  private readonly world = createRef<SVGGElement>();
  private readonly tokens = createRef<SVGGElement>();
  readonly view = new ViewBox();
  private stop: () => void = () => undefined;

  override componentDidMount(): void {
    const [svg, world] = [this.svg.current, this.world.current];
    if (svg && world) {
      this.view.attach(svg, (x, y, scale) => {
        world.setAttribute("transform", `translate(${x},${y}) scale(${scale})`);
        world.classList.toggle("far", scale < FAR);
        world.classList.toggle("farthest", scale < FARTHEST);
      });
    }
    this.fit();
    this.props.store.reach = (node) => {
      const { scene } = this.props.store.state;
      const at = scene.layout.centres[scene.seenIn[node]];
      this.view.centre(at.x, at.y);
    };
  }

  override componentDidUpdate(before: Props): void {
    const { state } = this.props;
    if (before.state.scene !== state.scene) this.fit();
    if (before.state.step !== state.step || before.state.shown !== state.shown) {
      this.stop();
      if (state.moving && this.tokens.current && this.svg.current) {
        this.stop = moveTokens(state, this.svg.current, this.tokens.current);
      }
    }
  }

  override componentWillUnmount(): void {
    this.stop();
    this.view.detach();
  }

  zoom(factor: number): void {
    this.view.zoom(factor);
  }

  fit(): void {
    this.view.fit(this.props.state.scene.layout);
  }

  override render(): JSX.Element {
    const { state, store } = this.props;
    const { scene } = state;
    const followed = state.tab === "why" ? new Set(pathTo(state.run, askedAbout(state)).map((link) => link.edge)) : null;
    return (
      <svg
        ref={this.svg}
        class={followed === null ? "graph" : "graph following"}
        role="group"
        aria-label={`The graph of ${state.run.graph.title || "this value"}`}
        onClick={(event) => event.target === this.svg.current && store.select(null)}
      >
        <defs>
          {["plain", "plus", "minus", "zero"].map((name) => (
            <marker id={`arrow-${name}`} key={name} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto-start-reverse">
              <path d="M0,0.8L7.4,4L0,7.2z" class={`arrow ${name}`} />
            </marker>
          ))}
        </defs>
        <g ref={this.world}>
          <g class="wires">
            {scene.wires.map((wire, index) => (
              <WireView key={wire.edges[0]} wire={wire} index={index} store={store} state={state} mark={wireMark(state, wire, followed)} />
            ))}
          </g>
          {/* Operands come before results, so that Tab goes along the program. */}
          <g class="boxes">
            {scene.items.map((item, index) => (
              <BoxView key={item.key} item={item} index={index} store={store} state={state} mark={boxMark(state, item, index)} />
            ))}
          </g>
          <g ref={this.tokens} class="tokens" aria-hidden="true" />
        </g>
      </svg>
    );
  }
}

/** Drawn again only when its mark, what it looks like in few words, or the whole picture has changed. */
abstract class Marked<P extends Props & { readonly mark: string }> extends Component<P> {
  override shouldComponentUpdate(next: Readonly<P>): boolean {
    const { mark, state } = this.props;
    return next.mark !== mark || next.state.scene !== state.scene || next.state.shown !== state.shown;
  }
}

// --- wires ------------------------------------------------------------------------------------------

interface WireProps extends Props {
  readonly wire: Wire;
  readonly index: number;
  readonly mark: string;
}

/** What a wire looks like now: its classes, and what it has carried back. */
function wireMark(state: State, wire: Wire, followed: ReadonlySet<number | null> | null): string {
  const { shown, step, selection } = state;
  const { graph } = shown;
  const result = graph.to[wire.edges[0]];
  const back = state.hidden && step === shown.visitStep(result) ? null : carriedBack(state, wire);
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

class WireView extends Marked<WireProps> {
  override render(): JSX.Element {
    const { wire, index, store, state, mark } = this.props;
    const [classes, carried] = mark.split("|");
    const back = carried === "" ? null : Number(carried);
    const path = state.scene.paths[index];
    const single = wire.edges.length === 1;
    const pick = (): void => store.select(single ? { kind: "edge", id: wire.edges[0] } : null);
    const label = wireLabel(state, wire);
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
        {back !== null && single && state.scene.wires.length <= LABELLED && <WireChip state={state} index={index} edge={wire.edges[0]} value={back} />}
      </g>
    );
  }
}

/** The contribution, printed where the wire leaves its operand's neighbourhood. */
function WireChip({ state, index, edge, value }: { state: State; index: number; edge: number; value: number }): JSX.Element {
  const points = state.scene.layout.routes[index];
  const [a, b] = [points[0], points[1]];
  const t = 0.5;
  const x = a.x + (b.x - a.x) * t;
  const y = a.y + (b.y - a.y) * t;
  const text = state.shown.zero[edge] ? "closed" : signed(value, 3);
  const width = 9 + 6.2 * text.length;
  return (
    <g class="chip" transform={`translate(${x},${y})`} aria-hidden="true">
      <rect x={-width / 2} y={-9} width={width} height={18} rx={9} />
      <text y={3.8}>{text}</text>
    </g>
  );
}

// --- boxes ------------------------------------------------------------------------------------------

interface BoxProps extends Props {
  readonly item: Item;
  readonly index: number;
  readonly mark: string;
}

/** What a box looks like now: its classes, and its numbers as far as they are known. */
function boxMark(state: State, item: Item, index: number): string {
  const { shown, step, selection } = state;
  const { graph } = shown;
  const here = shown.nodeOf(step);
  if (item.group !== null) {
    const now = here !== null && state.scene.seenIn[here] === index ? " now" : "";
    const chosen = selection?.kind === "group" && selection.id === item.group.id ? " chosen" : "";
    return `box group${now}${chosen}|${groupRange(state, item.group)}`;
  }
  const node = item.node ?? 0;
  const classes = ["box", graph.kinds[node] === LEAF ? "leaf" : graph.isVariable(node) ? "operation" : "constant"];
  if (here === node || (step === 0 && graph.kinds[node] === LEAF)) classes.push("now");
  if (selection?.kind === "node" && selection.id === node) classes.push("chosen");
  if (node === graph.root) classes.push("root");
  if (state.edits.has(node)) classes.push("edited");
  const covered = state.hidden && coveredNow(state, node);
  return `${classes.join(" ")}|${shown.hasData(node, step)} ${covered ? "?" : shown.gradient(node, step)}`;
}

class BoxView extends Marked<BoxProps> {
  override render(): JSX.Element {
    const { item, index, store, state, mark } = this.props;
    const [classes, range] = mark.split("|");
    if (item.group !== null) return <GroupView group={item.group} item={item} index={index} store={store} state={state} classes={classes} range={range} />;
    const node = item.node ?? 0;
    const { shown } = state;
    const at = state.scene.layout.centres[index];
    const constant = !shown.graph.isVariable(node);
    const chosen = state.selection?.kind === "node" && state.selection.id === node;
    const { width, height } = item.box;
    return (
      <g
        class={classes}
        transform={`translate(${at.x - width / 2},${at.y - height / 2})`}
        tabIndex={0}
        role="button"
        aria-pressed={chosen}
        aria-label={nodeLabel(state, node)}
        data-node={node}
        onClick={() => store.select({ kind: "node", id: node })}
        onFocus={() => !chosen && store.select({ kind: "node", id: node })}
      >
        <rect class="frame" width={width} height={height} rx={constant ? height / 2 : 10} />
        {constant ? (
          <text class="name" x={width / 2} y={height / 2 + 4.5} text-anchor="middle">
            {short(shown.data[node])}
          </text>
        ) : (
          <NodeText state={state} node={node} width={width} />
        )}
      </g>
    );
  }
}

/** Text that fits a width, for boxes whose letters are about `size` wide. */
export function clipped(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`;
}

function NodeText({ state, node, width }: { state: State; node: number; width: number }): JSX.Element {
  const { shown, step } = state;
  const { graph } = shown;
  const has = shown.hasData(node, step);
  const covered = state.hidden && coveredNow(state, node);
  const grad = covered ? null : shown.gradient(node, step);
  const name = clipped(graph.names[node], 12);
  const right = graph.kinds[node] === LEAF ? "input" : prettyFormula(graph.formula(node));
  const share = grad === null ? 0 : strength(grad);
  const kind = grad === null ? "zero" : tone(grad);
  const bar = share * (width - 20) * 0.5;
  return (
    <>
      <text class="name near" x={11} y={19}>
        {name}
      </text>
      <FarText name={graph.names[node]} number={grad === null ? (has ? short(shown.data[node], 3) : "·") : signed(grad, 3)} kind={grad === null ? "" : kind} width={width} />
      <text class="formula" x={width - 11} y={19} text-anchor="end">
        {clipped(right, Math.max(4, 17 - Math.ceil(1.2 * name.length)))}
      </text>
      <text class="word" x={11} y={38}>
        data
      </text>
      <text class="number data near" x={width - 11} y={38} text-anchor="end">
        {has ? short(shown.data[node]) : "·"}
      </text>
      <text class="word" x={11} y={56}>
        grad
      </text>
      <text class={`number grad near ${kind}`} x={width - 11} y={56} text-anchor="end">
        {covered ? "?" : grad === null ? "·" : signed(grad)}
      </text>
      {grad !== null && <rect class={`bar ${kind}`} x={grad < 0 ? width / 2 - bar : width / 2} y={61} width={bar} height={3} rx={1.5} />}
      {grad !== null && <rect class="axis" x={width / 2 - 0.5} y={60.5} width={1} height={4} />}
    </>
  );
}

/** What a box says from afar. */
function FarText({ name, number, kind, width }: { name: string; number: string; kind: string; width: number }): JSX.Element {
  return (
    <g class="afar" aria-hidden="true">
      <text x={width / 2} y={28} text-anchor="middle" class="name">
        {clipped(name.split(".").pop() ?? name, Math.floor(width / 13.5))}
      </text>
      <text x={width / 2} y={52} text-anchor="middle" class={`number grad ${kind}`}>
        {number}
      </text>
    </g>
  );
}

/** While a prediction is asked for, the gradients that the step adds to are covered. */
function coveredNow(state: State, node: number): boolean {
  const { shown, step } = state;
  return shown.additionsOf(step).some((item) => shown.graph.from[shown.additions.edge[item]] === node);
}

/** Signs as people write them. */
export function prettyFormula(text: string): string {
  return text.replace(/(\d)\.0\b/g, "$1").replace(/ \* /g, " × ").replace(/ \/ /g, " ÷ ").replace(/ - /g, " − ").replace(/^-/, "−");
}

interface GroupProps extends Props {
  readonly group: Group;
  readonly item: Item;
  readonly index: number;
  readonly classes: string;
  readonly range: string;
}

function GroupView({ group, item, index, store, state, classes, range }: GroupProps): JSX.Element {
  const at = state.scene.layout.centres[index];
  const { width, height } = item.box;
  const label = `${group.name}, ${group.size} operations`;
  const count = group.size || group.count;
  const size = `${thousands(count)} ${group.size ? "operation" : "input"}${count === 1 ? "" : "s"}`;
  return (
    <g
      class={classes}
      transform={`translate(${at.x - width / 2},${at.y - height / 2})`}
      tabIndex={0}
      role="button"
      aria-label={`${label}. Folded: press Enter to unfold.`}
      data-group={group.id}
      onClick={() => store.toggleGroup(group.id)}
      onFocus={() => store.select({ kind: "group", id: group.id })}
    >
      <title>{`${label}: click to unfold`}</title>
      <rect class="frame back2" x={5} y={5} width={width} height={height} rx={10} />
      <rect class="frame" width={width} height={height} rx={10} />
      <FarText name={group.name} number={size} kind="" width={width} />
      <text class="name near" x={11} y={21}>
        {clipped(group.name, 20)}
      </text>
      <text class="word" x={11} y={39}>
        {size}
      </text>
      <text class="word" x={11} y={56}>
        {range}
      </text>
      <path class="unfold near" d={`M${width - 16},12v10m-5,-5h10`} aria-hidden="true" />
    </g>
  );
}
