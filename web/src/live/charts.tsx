/** Pictures of numbers: the loss over the steps, the norms of the gradients, the ReLUs that never open. */

import { Component, createRef, type JSX } from "preact";
import { short } from "../model/numbers";
import { type Entry, layerName } from "./protocol";
import { type Live, shownLook, shownStep } from "./state";

const HEIGHT = 230;
const MARGIN = { left: 52, right: 14, top: 12, bottom: 26 };

interface ChartProps {
  readonly live: Live;
  readonly choose: (step: number | null) => void;
}

interface ChartState {
  readonly width: number;
  readonly log: boolean;
}

/** The loss of every step, as far as the run will go; a step can be chosen with the pointer or the arrow keys. */
export class LossChart extends Component<ChartProps, ChartState> {
  private readonly place = createRef<HTMLDivElement>();
  private observer: ResizeObserver | null = null;
  override state: ChartState = { width: 560, log: false };

  override componentDidMount(): void {
    const element = this.place.current;
    if (element === null) return;
    this.observer = new ResizeObserver(([entry]) => this.setState({ width: Math.max(220, Math.round(entry.contentRect.width)) }));
    this.observer.observe(element);
  }

  override componentWillUnmount(): void {
    this.observer?.disconnect();
  }

  private stepAt(event: PointerEvent): number {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const share = (event.clientX - box.left - MARGIN.left) / (this.state.width - MARGIN.left - MARGIN.right);
    return Math.min(Math.max(1, Math.round(share * this.props.live.run.steps)), this.props.live.run.done);
  }

  private pressed(event: KeyboardEvent): void {
    const { live, choose } = this.props;
    const at = shownStep(live);
    const goal = { ArrowLeft: at - 1, ArrowRight: at + 1, PageUp: at + 10, PageDown: at - 10, Home: 1, End: live.run.done }[event.key];
    if (goal === undefined || live.run.done === 0) return;
    event.preventDefault();
    event.stopPropagation();
    choose(Math.min(Math.max(1, goal), live.run.done));
  }

  override render(): JSX.Element {
    const { live, choose } = this.props;
    const { width, log } = this.state;
    const scale = scaleOf(live, width, log);
    const at = shownStep(live);
    const entry = live.entries[at - 1];
    const noisy = live.opening?.kind === "gpt" && live.entries.length > 40; // every step learns from another document
    return (
      <section class="run-tile run-loss" aria-labelledby="loss-title">
        <div class="run-tilehead">
          <h2 id="loss-title">Loss</h2>
          <span class="space" />
          <button type="button" aria-pressed={log} onClick={() => this.setState({ log: !log })}>
            log scale
          </button>
        </div>
        <div
          ref={this.place}
          role="slider"
          tabIndex={0}
          aria-label="Step to look at"
          aria-valuemin={Math.min(1, live.run.done)}
          aria-valuemax={live.run.done}
          aria-valuenow={at}
          aria-valuetext={entry ? `step ${at}, loss ${short(entry.loss)}` : "no step yet"}
          class="run-chart"
          onKeyDown={(event) => this.pressed(event)}
        >
          <svg
            width={width}
            height={HEIGHT}
            viewBox={`0 0 ${width} ${HEIGHT}`}
            aria-hidden="true"
            onPointerDown={(event) => {
              event.currentTarget.setPointerCapture(event.pointerId);
              if (live.run.done) choose(this.stepAt(event));
            }}
            onPointerMove={(event) => {
              if (event.buttons & 1 && live.run.done) choose(this.stepAt(event));
            }}
          >
            <Axes scale={scale} steps={live.run.steps} width={width} />
            {live.before.length > live.entries.length && <path class="run-before" d={path(live.before, scale)} />}
            <path class={noisy ? "run-each run-thin" : "run-each"} d={path(live.entries, scale)} />
            {noisy && <path class="run-mean" d={path(means(live.entries), scale)} />}
            {entry && <line class="run-cursor" x1={scale.x(at)} x2={scale.x(at)} y1={MARGIN.top} y2={HEIGHT - MARGIN.bottom} />}
            {entry && <circle class="run-cursor" cx={scale.x(at)} cy={scale.y(entry.loss)} r={4.5} />}
          </svg>
        </div>
      </section>
    );
  }
}

interface Scale {
  readonly x: (step: number) => number;
  readonly y: (loss: number) => number;
  readonly ticks: readonly number[];
}

function scaleOf(live: Live, width: number, log: boolean): Scale {
  const losses = [...live.entries, ...live.before].map((entry) => entry.loss).filter((loss) => Number.isFinite(loss));
  const high = losses.reduce((a, b) => Math.max(a, b), 1e-9) * 1.05;
  const least = losses.reduce((a, b) => (b > 0 ? Math.min(a, b) : a), high);
  const low = log ? least * 0.9 : 0;
  const place = (loss: number): number => (log ? Math.log(Math.max(loss, low) / low) / Math.log(high / low || 2) : loss / high);
  const right = width - MARGIN.left - MARGIN.right;
  const down = HEIGHT - MARGIN.top - MARGIN.bottom;
  return {
    x: (step) => MARGIN.left + (step / Math.max(1, live.run.steps)) * right,
    y: (loss) => MARGIN.top + (1 - Math.min(Math.max(place(loss), 0), 1)) * down,
    ticks: log ? logTicks(low, high) : linearTicks(high),
  };
}

function linearTicks(high: number): number[] {
  const rough = high / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= rough) ?? rough;
  return Array.from({ length: Math.floor(high / step) + 1 }, (_, k) => Number((k * step).toPrecision(6)));
}

function logTicks(low: number, high: number): number[] {
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const k of [1, 2, 5]) ticks.push(Number(`${k}e${power}`));
  }
  return ticks.filter((tick) => tick >= low && tick <= high);
}

function Axes({ scale, steps, width }: { scale: Scale; steps: number; width: number }): JSX.Element {
  const bottom = HEIGHT - MARGIN.bottom;
  return (
    <g class="run-axes">
      {scale.ticks.map((tick) => (
        <g key={tick}>
          <line x1={MARGIN.left} x2={width - MARGIN.right} y1={scale.y(tick)} y2={scale.y(tick)} />
          <text x={MARGIN.left - 8} y={scale.y(tick) + 4} text-anchor="end">
            {short(tick)}
          </text>
        </g>
      ))}
      {(width < 420 ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1]).map((share) => (
        <text key={share} x={scale.x(share * steps)} y={bottom + 18} text-anchor={share === 1 ? "end" : share === 0 ? "start" : "middle"}>
          {share === 1 ? `step ${steps}` : Math.round(share * steps)}
        </text>
      ))}
    </g>
  );
}

function path(entries: readonly Entry[], scale: Scale): string {
  const points = entries.filter((entry) => Number.isFinite(entry.loss));
  return points.map((entry, k) => `${k ? "L" : "M"}${scale.x(entry.step).toFixed(1)} ${scale.y(entry.loss).toFixed(1)}`).join("");
}

/** For each step the mean of it and of some before it. */
function means(entries: readonly Entry[]): Entry[] {
  const window = Math.max(1, Math.floor(entries.length / 20));
  let sum = 0;
  return entries.map((entry, k) => {
    sum += entry.loss - (k >= window ? entries[k - window].loss : 0);
    return { ...entry, loss: sum / Math.min(k + 1, window) };
  });
}

// --- gradients -----------------------------------------------------------------------------------

/** The norms shown: from 10 to this power, to 10 to the other. */
const LEAST = -6;
const MOST = 2;

function share(norm: number): number {
  if (!(norm > 0)) return 0;
  return Math.min(Math.max((Math.log10(norm) - LEAST) / (MOST - LEAST), 0.01), 1);
}

/** How long each layer's gradient is, on a scale of powers of ten that never changes, so that runs compare. */
export function Norms({ live }: { live: Live }): JSX.Element {
  const entry = live.entries[shownStep(live) - 1];
  const layers = live.opening?.layers ?? [];
  return (
    <section class="run-tile run-norms" aria-labelledby="norms-title">
      <div class="run-tilehead">
        <h2 id="norms-title">Gradient of each layer</h2>
        <span class="hint">length, from 10⁻⁶ to 10²</span>
      </div>
      <table>
        <thead class="run-unseen">
          <tr>
            <th scope="col">layer</th>
            <th scope="col">on a scale of powers of ten</th>
            <th scope="col">length of its gradient</th>
            <th scope="col">over the steps</th>
          </tr>
        </thead>
        <tbody>
          {layers.map((layer, k) => {
            const norm = entry?.norms[k];
            return (
              <tr key={layer}>
                <th scope="row">
                  <code>{layerName(layer)}</code>
                </th>
                <td class="run-scale" aria-hidden="true">
                  <span class="run-bar" style={{ width: `${100 * share(norm ?? 0)}%` }} />
                </td>
                <td class="number">{norm === undefined ? "" : short(norm, 3)}</td>
                <td class="run-history" aria-hidden="true">
                  <Sparkline entries={live.entries} layer={k} steps={live.run.steps} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

/** One layer's norms over the steps, on powers of ten of its own: at least one of them high. */
function Sparkline({ entries, layer, steps }: { entries: readonly Entry[]; layer: number; steps: number }): JSX.Element {
  const every = Math.max(1, Math.ceil(entries.length / 120));
  const points = entries
    .filter((entry, k) => (k % every === 0 || k === entries.length - 1) && entry.norms[layer] > 0)
    .map((entry) => ({ x: (entry.step / steps) * 118 + 1, y: Math.log10(entry.norms[layer]) }));
  const [low, high] = [Math.min(...points.map(({ y }) => y)), Math.max(...points.map(({ y }) => y))];
  const room = Math.max(1, high - low);
  const foot = (low + high - room) / 2;
  const line = points.map(({ x, y }, k) => `${k ? "L" : "M"}${x.toFixed(1)} ${(22 - (20 * (y - foot)) / room).toFixed(1)}`);
  return (
    <svg width="120" height="24" aria-hidden="true" viewBox="0 0 120 24">
      <path d={line.join("")} />
    </svg>
  );
}

// --- ReLUs ---------------------------------------------------------------------------------------

/** One square a ReLU; one that no example opened passes no gradient on, and its weights do not learn in this step. */
export function Dead({ live }: { live: Live }): JSX.Element {
  const look = shownLook(live);
  const layers = Object.entries(live.opening?.hidden ?? {});
  const what = live.opening?.kind === "gpt" ? "at every position of the document" : "for every point";
  return (
    <section class="run-tile run-dead" aria-labelledby="dead-title">
      <div class="run-tilehead">
        <h2 id="dead-title">Dead ReLUs</h2>
        <span class="hint">closed {what}, so that no gradient passes</span>
      </div>
      {layers.map(([layer, size], k) => {
        const dead = look?.dead[k];
        const words = dead === undefined ? "not known yet" : `${deadWords(dead)} of ${size}`;
        return (
          <div key={layer} class="run-units">
            <p>
              <code>{layerName(layer)}</code> <span class="number">{words}</span>
            </p>
            <div class="run-squares" aria-hidden="true">
              {Array.from({ length: size }, (_, unit) => (
                <span key={unit} class={dead?.includes(unit) ? "run-unit run-closed" : "run-unit"} title={`${layerName(layer)}[${unit}]`} />
              ))}
            </div>
          </div>
        );
      })}
    </section>
  );
}

/** `2 (3 and 7)`, or only how many where they are many. */
function deadWords(dead: readonly number[]): string {
  if (dead.length === 0) return "none";
  return dead.length > 6 ? String(dead.length) : `${dead.length} (${dead.join(", ")})`;
}
