/** Steps downhill, made in the page: the loss over the steps and, for points in the plane, what the network says of each place. */

import { Component, createRef, type JSX } from "preact";
import { evaluate, forward } from "../model/evaluate";
import type { Graph } from "../model/graph";
import { short } from "../model/numbers";
import type { Run } from "../model/run";
import { decode, type Payload } from "../trace/decode";
import type { PanelProps } from "./parts";

const WIDTH = 420;
const HEIGHT = 130;
const COLUMNS = 48;
const ROWS = 32;

/** What Python sends of a network in the plane: its output as a graph of its own, and the points it learns from. */
interface Field {
  readonly payload: Payload;
  /** Left, right, bottom and top of the picture. */
  readonly area: readonly [number, number, number, number];
  readonly points: readonly (readonly [number, number, number])[];
}

/** The numbers of the leaves after one step: each parameter less `rate` times its gradient. */
export function downhill(run: Run, parameters: readonly number[], rate: number): Map<number, number> {
  return new Map(parameters.map((leaf) => [leaf, run.data[leaf] - rate * run.final(leaf)]));
}

/** The leaves that learn: those that are named, or all. */
function parametersOf(graph: Graph, names: string): number[] {
  const wanted = names.split(" ").filter(Boolean);
  if (wanted.length === 0) return [...graph.leaves];
  return graph.leaves.filter((leaf) => wanted.some((name) => graph.names[leaf] === name || (name.endsWith("*") && graph.names[leaf].startsWith(name.slice(0, -1)))));
}

export class Descent extends Component<PanelProps, { readonly losses: readonly number[]; readonly running: boolean; readonly rate: number }> {
  private readonly start = this.props.store.state.run;
  private readonly parameters = parametersOf(this.start.graph, this.props.figure.options.parameters ?? "");
  private frame = 0;
  /** The run that the last step here has made. Where the figure has another run, a reader has changed an input: steps are counted anew. */
  private made = this.start;

  constructor(props: PanelProps) {
    super(props);
    this.state = { losses: [this.start.data[this.start.graph.root]], running: false, rate: this.rates[0] };
  }

  override componentWillUnmount(): void {
    cancelAnimationFrame(this.frame);
  }

  override componentDidUpdate(): void {
    const { run } = this.props.state;
    if (run === this.made) return;
    this.made = run;
    cancelAnimationFrame(this.frame);
    this.setState({ losses: [run.data[run.graph.root]], running: false });
  }

  /** The learning rates that the chapter offers; the first one is that of its text. */
  private get rates(): readonly number[] {
    return (this.props.figure.options.rate ?? "0.1").split(" ").map(Number);
  }

  /** Some steps at once; the figure then shows the numbers after the last. */
  private make(steps: number): void {
    let { run } = this.props.store.state;
    const losses = [...this.state.losses];
    for (let k = 0; k < steps; k++) {
      const inputs = run.data.slice();
      for (const [leaf, value] of downhill(run, this.parameters, this.state.rate)) inputs[leaf] = value;
      run = evaluate(run.graph, inputs);
      losses.push(run.data[run.graph.root]);
    }
    this.set(run);
    this.props.store.goTo(this.props.store.state.shown.stepCount - 1);
    this.setState({ losses });
  }

  /** Give the parameters the numbers that they have in a run. */
  private set(run: Run): void {
    const { store } = this.props;
    store.editAll(new Map(this.parameters.map((leaf) => [leaf, run.data[leaf]])));
    this.made = store.state.run;
  }

  private readonly runOn = (): void => {
    if (this.state.running) {
      cancelAnimationFrame(this.frame);
      this.setState({ running: false });
      return;
    }
    let left = Number(this.props.figure.options.most ?? 200);
    const tick = (): void => {
      this.make(1);
      if (--left <= 0) this.setState({ running: false });
      else this.frame = requestAnimationFrame(tick);
    };
    this.setState({ running: true }, () => {
      this.frame = requestAnimationFrame(tick);
    });
  };

  private readonly again = (): void => {
    cancelAnimationFrame(this.frame);
    this.set(this.start);
    this.setState({ losses: [this.start.data[this.start.graph.root]], running: false });
  };

  override render(): JSX.Element {
    const { figure, words, state } = this.props;
    const { losses, running, rate } = this.state;
    const field = figure.extra.field as Field | undefined;
    const last = losses[losses.length - 1];
    const name = state.run.graph.names[state.run.graph.root];
    return (
      <div class="descent-view" data-running={running || undefined}>
        <p class="actions">
          <button type="button" class="primary" onClick={() => this.make(1)}>
            {words.say("descent_step", { rate })}
          </button>
          <button type="button" onClick={this.runOn}>
            {running ? words.say("descent_pause") : words.say("descent_run")}
          </button>
          <button type="button" onClick={this.again}>
            {words.say("start_over")}
          </button>
        </p>
        {this.rates.length > 1 && (
          <p class="rates">
            <label>
              {words.say("descent_rate")}{" "}
              <select value={String(rate)} onChange={(event) => this.setState({ rate: Number(event.currentTarget.value) })}>
                {this.rates.map((own) => (
                  <option key={own} value={String(own)}>
                    {own}
                  </option>
                ))}
              </select>
            </label>
          </p>
        )}
        <p class="reading" role="status" aria-live={running ? "off" : "polite"}>
          {words.say("descent_reading", { steps: losses.length - 1, name, loss: short(last), first: short(losses[0]) })}
        </p>
        <LossChart losses={losses} label={words.say("descent_chart", { name })} />
        {field && <Plane field={field} run={state.run} label={words.say("descent_plane")} />}
      </div>
    );
  }
}

function LossChart({ losses, label }: { losses: readonly number[]; label: string }): JSX.Element {
  const most = Math.max(...losses.filter(Number.isFinite), 1e-9);
  const count = Math.max(20, losses.length - 1);
  const px = (k: number): number => 58 + (k / count) * (WIDTH - 70);
  const py = (loss: number): number => 10 + (1 - Math.min(1, loss / most)) * (HEIGHT - 32);
  return (
    <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      <g class="axes">
        <path d={`M58,10V${HEIGHT - 22}H${WIDTH - 12}`} />
        <text x={52} y={16} text-anchor="end">{short(most, 3)}</text>
        <text x={52} y={HEIGHT - 20} text-anchor="end">0</text>
        <text x={px(count)} y={HEIGHT - 6} text-anchor="end">{count}</text>
      </g>
      <path class="curve" d={losses.map((loss, k) => `${k ? "L" : "M"}${px(k).toFixed(1)},${py(loss).toFixed(1)}`).join("")} />
      <circle class="here" cx={px(losses.length - 1)} cy={py(losses[losses.length - 1])} r={4} />
    </svg>
  );
}

/** The plane, coloured by the network's output: one forward pass of its graph for each small square. */
class Plane extends Component<{ readonly field: Field; readonly run: Run; readonly label: string }> {
  private readonly canvas = createRef<HTMLCanvasElement>();
  private readonly model = decode(this.props.field.payload.trace ?? fail()).run;

  override componentDidMount(): void {
    this.paint();
  }

  override componentDidUpdate(): void {
    this.paint();
  }

  private paint(): void {
    const canvas = this.canvas.current;
    const context = canvas?.getContext("2d");
    if (!canvas || !context) return;
    const { field, run } = this.props;
    const { graph } = this.model;
    const inputs = this.model.data.slice();
    for (const leaf of graph.leaves) {
      const own = run.graph.find(graph.names[leaf]);
      if (own !== undefined) inputs[leaf] = run.data[own];
    }
    const [x, y] = [graph.find("x") ?? 0, graph.find("y") ?? 0];
    const [left, right, bottom, top] = field.area;
    const [w, h] = [canvas.width / COLUMNS, canvas.height / ROWS];
    const style = getComputedStyle(canvas);
    const [plus, minus, ink] = [style.getPropertyValue("border-left-color"), style.getPropertyValue("border-right-color"), style.color];
    context.clearRect(0, 0, canvas.width, canvas.height);
    for (let row = 0; row < ROWS; row++) {
      for (let column = 0; column < COLUMNS; column++) {
        inputs[x] = left + ((column + 0.5) / COLUMNS) * (right - left);
        inputs[y] = top + ((row + 0.5) / ROWS) * (bottom - top);
        const score = forward(graph, inputs)[graph.root];
        context.fillStyle = score > 0 ? plus : minus;
        context.globalAlpha = 0.08 + 0.42 * Math.min(1, Math.abs(score));
        context.fillRect(column * w, row * h, w, h);
      }
    }
    context.globalAlpha = 1;
    for (const [px, py, kind] of field.points) {
      context.beginPath();
      context.arc(((px - left) / (right - left)) * canvas.width, ((top - py) / (top - bottom)) * canvas.height, 6, 0, 7);
      context.fillStyle = kind > 0 ? plus : minus;
      context.fill();
      context.strokeStyle = ink;
      context.stroke();
    }
  }

  override render(): JSX.Element {
    return <canvas ref={this.canvas} class="plane" width={480} height={320} role="img" aria-label={this.props.label} />;
  }
}

function fail(): never {
  throw new Error("the field has a trace");
}
