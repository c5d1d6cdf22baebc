/** What the model makes of its problem: the plane as the network divides it, or the documents a GPT makes up. */

import { Component, createRef, type JSX } from "preact";
import { short, signed } from "../model/numbers";
import { graphAddress, type Look, type Opening } from "./protocol";
import { type Live, shownLook, shownStep } from "./state";

// --- the moons -----------------------------------------------------------------------------------

/** The score at which a colour is at its strongest. */
const STRONGEST = 100;

interface PlaneProps {
  readonly live: Live;
  /** Changes when the colours do. */
  readonly theme: string;
}

/** The decision boundary with the points on it. A point can be chosen, and its graph opened. */
export class Plane extends Component<PlaneProps, { readonly point: number | null }> {
  private readonly canvas = createRef<HTMLCanvasElement>();
  private drawn: readonly number[] | undefined;
  private themed = "";
  override state: { readonly point: number | null } = { point: null };

  override componentDidMount(): void {
    this.draw();
  }

  override componentDidUpdate(): void {
    this.draw();
  }

  private draw(): void {
    const canvas = this.canvas.current;
    const { opening } = this.props.live;
    const scores = shownLook(this.props.live)?.scores;
    const context = canvas?.getContext("2d");
    if (!canvas || !context || !opening?.field || !scores || (scores === this.drawn && this.themed === this.props.theme)) return;
    [this.drawn, this.themed] = [scores, this.props.theme];
    const [columns, rows] = opening.field;
    [canvas.width, canvas.height] = [columns, rows];
    const [paper, plus, minus] = ["--card", "--plus", "--minus"].map((name) => colourOf(canvas, name));
    const image = context.createImageData(columns, rows);
    scores.forEach((score, k) => {
      const strength = 0.1 + 0.5 * Math.min(Math.abs(score) / STRONGEST, 1);
      const hue = score > 0 ? plus : minus;
      for (let c = 0; c < 3; c++) image.data[4 * k + c] = paper[c] + (score === 0 ? 0 : strength) * (hue[c] - paper[c]);
      image.data[4 * k + 3] = 255;
    });
    context.putImageData(image, 0, 0);
  }

  private pressed(event: KeyboardEvent, count: number): void {
    const { point } = this.state;
    const goal = { ArrowRight: (point ?? -1) + 1, ArrowDown: (point ?? -1) + 1, ArrowLeft: (point ?? count) - 1, ArrowUp: (point ?? count) - 1 }[event.key];
    const step = shownStep(this.props.live);
    if (goal !== undefined) this.setState({ point: (goal + count) % count });
    else if (event.key === "Enter" && point !== null && step > 0) open(graphAddress(step, point), "_blank", "noopener");
    else if (event.key === "Escape") this.setState({ point: null });
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  override render(): JSX.Element {
    const { live } = this.props;
    const { opening } = live;
    const look = shownLook(live);
    const step = shownStep(live);
    const { point } = this.state;
    const points = opening?.points ?? [];
    const [left, right, bottom, top] = opening?.frame ?? [0, 1, 0, 1];
    const label = point === null ? 0 : (opening?.labels?.[point] ?? 0);
    return (
      <section class="run-tile run-plane" aria-labelledby="plane-title">
        <div class="run-tilehead">
          <h2 id="plane-title">Where it draws the line</h2>
          <span class="hint">{look ? (look.step ? `after step ${look.step}` : "before the first step") : ""}</span>
        </div>
        <div
          class="run-picture"
          style={{ aspectRatio: `${right - left} / ${top - bottom}` }}
          role="application"
          tabIndex={0}
          aria-label={`${points.length} points; the arrow keys choose one, Enter opens its graph`}
          onKeyDown={(event) => this.pressed(event, points.length)}
        >
          <canvas ref={this.canvas} />
          <svg viewBox={`${left} ${-top} ${right - left} ${top - bottom}`} aria-hidden="true">
            {opening?.field && look?.scores && <path class="run-border" d={border(look.scores, opening)} />}
            {points.map((place, k) => (
              <Mark key={k} place={place} label={opening?.labels?.[k] ?? 1} chosen={k === point} choose={() => this.setState({ point: k })} />
            ))}
          </svg>
        </div>
        <p class="run-signs">
          <span class="plus">● +1</span> <span class="minus">■ −1</span>
          <span class="hint">shaded as the network says; the line is where it is undecided</span>
        </p>
        <p class="run-pick" aria-live="polite">
          {point === null ? (
            <span class="hint">Choose a point to open the graph of its loss.</span>
          ) : (
            <>
              Point {point + 1} at ({short(points[point][0], 3)}, {short(points[point][1], 3)}), label {signed(label)}
              {step > 0 && (
                <a class="run-action" href={graphAddress(step, point)} target="_blank" rel="noopener">
                  open its graph at step {step}
                </a>
              )}
            </>
          )}
        </p>
      </section>
    );
  }
}

interface MarkProps {
  readonly place: readonly [number, number];
  readonly label: number;
  readonly chosen: boolean;
  readonly choose: () => void;
}

function Mark({ place: [x, y], label, chosen, choose }: MarkProps): JSX.Element {
  const size = chosen ? 0.062 : 0.042;
  const name = `run-mark ${label > 0 ? "plus" : "minus"}${chosen ? " run-chosen" : ""}`;
  return label > 0 ? (
    <circle class={name} cx={x} cy={-y} r={size} onClick={choose} />
  ) : (
    <rect class={name} x={x - 0.9 * size} y={-y - 0.9 * size} width={1.8 * size} height={1.8 * size} onClick={choose} />
  );
}

/** The line on which the score is zero: in each cell of the grid, between the places where its sides change sign. */
function border(scores: readonly number[], { field, frame }: Opening): string {
  const [columns, rows] = field ?? [0, 0];
  const [left, right, bottom, top] = frame ?? [0, 1, 0, 1];
  const x = (column: number): number => left + ((column + 0.5) / columns) * (right - left);
  const y = (row: number): number => -(top - ((row + 0.5) / rows) * (top - bottom));
  const parts: string[] = [];
  for (let row = 0; row + 1 < rows; row++) {
    for (let column = 0; column + 1 < columns; column++) {
      const corners = [
        [column, row],
        [column + 1, row],
        [column + 1, row + 1],
        [column, row + 1],
      ];
      const cuts: string[] = [];
      corners.forEach(([c, r], k) => {
        const [d, s] = corners[(k + 1) % 4];
        const [a, b] = [scores[r * columns + c] || 0.25, scores[s * columns + d] || 0.25];
        if (a > 0 === b > 0) return;
        const t = a / (a - b);
        cuts.push(`${(x(c) + t * (x(d) - x(c))).toFixed(4)} ${(y(r) + t * (y(s) - y(r))).toFixed(4)}`);
      });
      for (let k = 0; k + 1 < cuts.length; k += 2) parts.push(`M${cuts[k]}L${cuts[k + 1]}`);
    }
  }
  return parts.join("");
}

/** Red, green and blue of one of the page's colours as it is in this place. */
function colourOf(element: HTMLElement, name: string): number[] {
  element.style.color = `var(${name})`;
  return (getComputedStyle(element).color.match(/[0-9.]+/g) ?? []).slice(0, 3).map(Number);
}

// --- the GPT -------------------------------------------------------------------------------------

/** How many earlier looks are listed. */
const EARLIER = 8;

/** Documents that the model makes up now, and how they were before. */
export function Samples({ live }: { live: Live }): JSX.Element {
  const look = shownLook(live);
  return (
    <section class="run-tile run-samples" aria-labelledby="samples-title">
      <div class="run-tilehead">
        <h2 id="samples-title">What it makes up</h2>
        <span class="hint">{look ? (look.step ? `after step ${look.step}` : "before the first step") : ""}</span>
      </div>
      <ul class="run-now">{look?.samples?.map((text, k) => <li key={k}>{shownText(text)}</li>)}</ul>
      <dl aria-label="Earlier">
        {earlier(live.looks, look).map((old) => [
          <dt key={old.step}>step {old.step}</dt>,
          <dd key={`${old.step} samples`}>{old.samples?.slice(0, 4).map(shownText).join("  ")}</dd>,
        ])}
      </dl>
      {look && look.step > 0 && (
        <p class="hint">
          Step {look.step} learned from {look.about}.
        </p>
      )}
    </section>
  );
}

function shownText(text: string): string {
  return text || "(nothing)";
}

/** Some looks before this one, evenly spread, the newest first. */
function earlier(looks: readonly Look[], look: Look | null): Look[] {
  const old = looks.filter((other) => look !== null && other.step < look.step);
  const every = Math.max(1, Math.ceil(old.length / EARLIER));
  return old.filter((_, k) => k % every === 0).reverse();
}
