/** An input on a slider: the result as a curve over it, the point where it is now, and the tangent there. */

import type { JSX } from "preact";
import { nudgedRoot } from "../model/evaluate";
import { short, signed } from "../model/numbers";
import type { PanelProps } from "./parts";

const WIDTH = 420;
const HEIGHT = 190;
const MARGIN = { left: 58, right: 12, top: 12, bottom: 26 };
const POINTS = 80;

export function Nudge({ store, state, figure, words }: PanelProps): JSX.Element | null {
  const { run } = state;
  const { graph } = run;
  const leaf = graph.find(figure.options.leaf ?? "") ?? graph.leaves[0];
  const [low, high] = rangeOf(figure.options.range, run.data[leaf]);
  const x = run.data[leaf];
  const y = run.data[graph.root];
  const slope = run.final(leaf);
  const name = graph.names[leaf];
  const root = graph.names[graph.root];
  const curve = Array.from({ length: POINTS + 1 }, (_, k) => {
    const at = low + ((high - low) * k) / POINTS;
    return { x: at, y: nudgedRoot(graph, run, leaf, at - x) };
  }).filter((point) => Number.isFinite(point.y));
  const ys = [...curve.map((point) => point.y), y];
  const [least, most] = [Math.min(...ys), Math.max(...ys)];
  const room = Math.max(1e-9, most - least) * 0.08;
  const px = (value: number): number => MARGIN.left + ((value - low) / (high - low)) * (WIDTH - MARGIN.left - MARGIN.right);
  const py = (value: number): number => MARGIN.top + ((most + room - value) / (most - least + 2 * room)) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const reach = (high - low) * 0.3;
  const by = 0.1;
  const moved = nudgedRoot(graph, run, leaf, by) - y;
  const move = (event: PointerEvent): void => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * WIDTH;
    const value = low + ((at - MARGIN.left) / (WIDTH - MARGIN.left - MARGIN.right)) * (high - low);
    const rounded = Math.round(Math.max(low, Math.min(high, value)) * 100) / 100;
    if (rounded !== x) store.edit(leaf, rounded);
  };
  return (
    <div class="nudge-view">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={words.say("nudge_picture", { root, leaf: name })}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          move(event);
        }}
        onPointerMove={(event) => event.buttons > 0 && move(event)}
      >
        <g class="axes">
          {[low, (low + high) / 2, high].map((value) => (
            <text key={value} x={px(value)} y={HEIGHT - 8} text-anchor="middle">
              {short(value, 3)}
            </text>
          ))}
          {[least, most].map((value, k) => (
            <text key={k} x={MARGIN.left - 6} y={py(value) + 4} text-anchor="end">
              {short(value, 3)}
            </text>
          ))}
          <path d={`M${MARGIN.left},${MARGIN.top}V${HEIGHT - MARGIN.bottom}H${WIDTH - MARGIN.right}`} />
        </g>
        <path class="curve" d={curve.map((point, k) => `${k ? "L" : "M"}${px(point.x).toFixed(1)},${py(point.y).toFixed(1)}`).join("")} />
        {figure.options.tangent !== "no" && (
          <line class={`tangent ${slope < 0 ? "minus" : "plus"}`} x1={px(x - reach)} y1={py(y - slope * reach)} x2={px(x + reach)} y2={py(y + slope * reach)} />
        )}
        <circle class="here" cx={px(x)} cy={py(y)} r={6} />
      </svg>
      <label class="slide">
        <span>
          {name} = <b class="number">{short(x)}</b>
        </span>
        <input
          type="range"
          min={low}
          max={high}
          step={stepOf(high - low)}
          value={x}
          aria-label={words.say("nudge_slider", { leaf: name })}
          aria-valuetext={`${name} = ${short(x)}, ${root} = ${short(y)}`}
          style={{ "--at": `${(100 * (x - low)) / (high - low)}%`, "--split": "-10%" }}
          onInput={(event) => store.edit(leaf, Number(Number(event.currentTarget.value).toPrecision(6)))}
        />
        <span>
          {root} = <b class="number">{short(y)}</b>
        </span>
      </label>
      {figure.options.tangent !== "no" && (
        <p class="reading" role="status">
          {words.say("nudge_reading", { leaf: name, root, slope: signed(slope), by: short(by), predicted: signed(slope * by), moved: signed(moved, 3) })}
        </p>
      )}
    </div>
  );
}

/** Steps of a hundredth, so that every number of a text with two digits can be reached; coarser on a long slider. */
function stepOf(reach: number): number {
  return reach > 40 ? 0.1 : 0.01;
}

/** `-4 6`, or a range around where the input is. */
function rangeOf(text: string | undefined, at: number): readonly [number, number] {
  const given = (text ?? "").split(" ").map(Number);
  if (given.length === 2 && given[0] < given[1]) return [Math.min(given[0], at), Math.max(given[1], at)];
  const reach = Math.max(2, 2 * Math.abs(at));
  return [at - reach, at + reach];
}
