/** The slope: the result as a curve over one input, with the point where it is now and the tangent that the gradient gives. */

import { Component, createRef, type JSX } from "preact";
import { nudgedRoot } from "../model/evaluate";
import { LEAF } from "../model/graph";
import { rounded, short } from "../model/numbers";
import type { Run } from "../model/run";
import { isCovered } from "../state/state";
import type { State, Store } from "../state/store";
import { Inputs, tidy } from "./inputs";

interface Props {
  readonly store: Store;
  readonly state: State;
}

const WIDTH = 360;
const HEIGHT = 230;
const POINTS = 81;
/** A graph of more nodes is not computed eighty times over while someone drags. */
const LARGEST = 4000;

/** What part of the plane is seen. It stays while the point is dragged. */
interface Window {
  readonly run: Run["graph"];
  readonly leaf: number;
  readonly left: number;
  readonly right: number;
  readonly low: number;
  readonly high: number;
}

export class Slope extends Component<Props> {
  private readonly svg = createRef<SVGSVGElement>();
  private window: Window | null = null;
  private dragging = false;

  private readonly drag = (event: PointerEvent): void => {
    const { store } = this.props;
    const frame = this.svg.current?.getBoundingClientRect();
    if (!this.dragging || !frame || this.window === null) return;
    const { left, right, leaf } = this.window;
    const step = (right - left) / 200;
    const x = left + ((event.clientX - frame.left) / frame.width) * (right - left);
    store.edit(leaf, tidy(Math.round(Math.max(left, Math.min(right, x)) / step) * step), true);
  };

  private readonly down = (event: PointerEvent): void => {
    event.preventDefault();
    this.svg.current?.setPointerCapture(event.pointerId);
    this.dragging = true;
    this.props.store.grab();
    this.drag(event);
  };

  private readonly up = (): void => {
    this.dragging = false;
    this.forceUpdate();
  };

  private readonly key = (event: KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key] ?? 0;
    if (by === 0 || this.window === null) return;
    event.preventDefault();
    event.stopPropagation();
    const { store, state } = this.props;
    const { leaf, left, right } = this.window;
    store.edit(leaf, tidy(state.run.data[leaf] + (by * (right - left)) / 40));
  };

  /** Around the point, as far as the input is large; the same until the point leaves it. */
  private windowFor(run: Run, leaf: number): Window {
    const known = this.window;
    const x = run.data[leaf];
    const y = Number.isFinite(run.data[run.graph.root]) ? run.data[run.graph.root] : 0;
    if (known?.run === run.graph && known.leaf === leaf && (this.dragging || (x >= known.left && x <= known.right && y >= known.low && y <= known.high))) return known;
    const reach = Math.max(1, 1.5 * Math.abs(x));
    const [left, right] = [x - reach, x + reach];
    const ys = curve(run, leaf, left, right).map(([, value]) => value).filter(Number.isFinite);
    // A tangent of the point, not a pole far from it, decides how high the window is.
    const sorted = [...ys].sort((a, b) => a - b);
    const [low, high] = [Math.min(sorted[Math.floor(sorted.length * 0.04)] ?? y, y), Math.max(sorted[Math.ceil(sorted.length * 0.96) - 1] ?? y, y)];
    const margin = 0.12 * (high - low) || Math.max(1, Math.abs(y)) * 0.5;
    return { run: run.graph, leaf, left, right, low: low - margin, high: high + margin };
  }

  override render(): JSX.Element {
    const { store, state } = this.props;
    const { run, shown, step } = state;
    const { graph } = run;
    const chosen = state.selection?.kind === "node" && graph.kinds[state.selection.id] === LEAF ? state.selection.id : undefined;
    const leaf = chosen ?? this.window?.leaf ?? graph.leaves[0];
    if (!graph.computable || leaf === undefined || graph.count > LARGEST || graph.kinds[leaf] !== LEAF) {
      return <p class="hint">{graph.count > LARGEST ? "This graph is too large for a curve. Choose one of the examples." : "There is no input whose change could be computed here."}</p>;
    }
    const [name, root] = [graph.names[leaf], graph.names[graph.root]];
    const seen = (this.window = this.windowFor(run, leaf));
    const [x, y, grad] = [run.data[leaf], run.data[graph.root], run.final(leaf)];
    const told = shown.gradient(leaf, step) !== null && step === shown.stepCount - 1 && !isCovered(state, leaf);
    const at = (u: number, v: number): [number, number] => [((u - seen.left) / (seen.right - seen.left)) * WIDTH, HEIGHT - ((v - seen.low) / (seen.high - seen.low)) * HEIGHT];
    const number = (value: number): string => rounded(value, state.digits);
    const [cx, cy] = at(x, y);
    const reach = (seen.right - seen.left) / 3;
    const [[x1, y1], [x2, y2]] = [at(x - reach, y - reach * grad), at(x + reach, y + reach * grad)];
    return (
      <div class="panel slope">
        <p class="hint">
          {root} as {name} changes and everything else stays. Drag the point; choose another input below or in the graph.
        </p>
        <div class="modes" role="group" aria-label="The input that moves">
          {graph.leaves.slice(0, 12).map((own) => (
            <button key={own} type="button" aria-pressed={own === leaf} onClick={() => store.select({ kind: "node", id: own })}>
              {graph.names[own]}
            </button>
          ))}
        </div>
        <svg
          ref={this.svg}
          class="plot"
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          tabindex={0}
          role="slider"
          aria-label={`${name}, with the curve of ${root}`}
          aria-valuenow={x}
          aria-valuetext={`${name} = ${number(x)}, ${root} = ${number(y)}${told ? `, slope ${number(grad)}` : ""}`}
          onPointerDown={this.down}
          onPointerMove={this.drag}
          onPointerUp={this.up}
          onPointerCancel={this.up}
          onKeyDown={this.key}
        >
          <path class="zero" d={axes(seen, at)} />
          <path class="line" d={pathOf(curve(run, leaf, seen.left, seen.right), at, seen)} />
          {told && Number.isFinite(grad) && <line class="tangent" x1={x1} y1={y1} x2={x2} y2={y2} />}
          {Number.isFinite(cx + cy) && <circle cx={cx} cy={cy} r="7" />}
          <text x={WIDTH - 6} y={HEIGHT - 6} text-anchor="end">
            {name} →
          </text>
          <text x="6" y="14">
            ↑ {root}
          </text>
        </svg>
        <p class="hint">
          Seen here: {name} from {short(seen.left, 2)} to {short(seen.right, 2)}.
        </p>
        <p aria-live="polite">
          At {name} = <b>{number(x)}</b>, {root} = <b>{number(y)}</b>.{" "}
          {told ? (
            <>
              The tangent has the slope {name}.grad = <b>{number(grad)}</b>: {root} moves {number(grad)} times as far as {name}, for a small nudge.
            </>
          ) : (
            "Which way does the curve go here, and how steeply? The backward pass will tell."
          )}
        </p>
        <Nudge run={run} leaf={leaf} number={number} />
        {!told && !isCovered(state, leaf) && (
          <p class="actions">
            <button type="button" class="primary" onClick={() => store.goTo(shown.stepCount - 1)}>
              Run both passes
            </button>
          </p>
        )}
        <Inputs store={store} state={state} />
      </div>
    );
  }
}

/** A nudge with its numbers: no derivative, only the program run once more. */
function Nudge({ run, leaf, number }: { run: Run; leaf: number; number: (x: number) => string }): JSX.Element | null {
  const { graph } = run;
  const [name, root] = [graph.names[leaf], graph.names[graph.root]];
  const by = 0.001 * Math.max(1, Math.abs(run.data[leaf]));
  const moved = nudgedRoot(graph, run, leaf, by) - run.data[graph.root];
  if (!Number.isFinite(moved)) return null;
  return (
    <p class="nudge">
      <b>Nudge.</b> {name} + {number(by)} moves {root} by {number(moved)}: that is {number(moved / by)} for each unit.
    </p>
  );
}

function curve(run: Run, leaf: number, left: number, right: number): [number, number][] {
  return Array.from({ length: POINTS }, (_, k) => {
    const x = left + ((right - left) * k) / (POINTS - 1);
    return [x, nudgedRoot(run.graph, run, leaf, x - run.data[leaf])];
  });
}

type Place = (x: number, y: number) => [number, number];

/** A path that breaks where there is no value, and where it leaves the window far behind. */
function pathOf(points: readonly (readonly [number, number])[], at: Place, seen: Window): string {
  const far = 3 * (seen.high - seen.low);
  let open = false;
  return points
    .map(([x, y]) => {
      const inside = Number.isFinite(y) && y > seen.low - far && y < seen.high + far;
      const [u, v] = inside ? at(x, y) : [0, 0];
      const text = inside ? `${open ? "L" : "M"}${u.toFixed(1)},${v.toFixed(1)}` : "";
      open = inside;
      return text;
    })
    .join("");
}

function axes(seen: Window, at: Place): string {
  const [x0, y0] = at(0, 0);
  const level = y0 >= 0 && y0 <= HEIGHT ? `M0,${y0.toFixed(1)}H${WIDTH}` : "";
  return level + (x0 >= 0 && x0 <= WIDTH ? `M${x0.toFixed(1)},0V${HEIGHT}` : "");
}
