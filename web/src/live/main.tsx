/** The page of a live training run: its progress, and the buttons that steer it. */

import { Component, type JSX, render } from "preact";
import { short } from "../model/numbers";
import { Dead, LossChart, Norms } from "./charts";
import { Plane, Samples } from "./model";
import { type Command, graphAddress, type Message, tell } from "./protocol";
import { type Live, NOTHING, received, shownStep } from "./state";
import "../style/base.css";
import "./live.css";

const PACES = [1, 2, 5, 10, 20, 50, 100];
const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

interface PageState {
  readonly live: Live;
  readonly theme: Theme;
  /** Whether the system is dark. */
  readonly dark: boolean;
}

class Page extends Component<object, PageState> {
  private readonly system = matchMedia("(prefers-color-scheme: dark)");
  private stream: EventSource | null = null;
  override state: PageState = { live: NOTHING, theme: "auto", dark: this.system.matches };

  override componentDidMount(): void {
    this.stream = new EventSource("events");
    this.stream.onmessage = (event) => this.change((live) => received(live, JSON.parse(event.data as string) as Message));
    this.stream.onerror = () => this.change((live) => ({ ...live, connected: false }));
    this.system.addEventListener("change", () => this.setState({ dark: this.system.matches }));
    document.addEventListener("keydown", (event) => this.pressed(event));
  }

  private change(how: (live: Live) => Live): void {
    this.setState(({ live }) => ({ live: how(live) }));
  }

  private readonly tell = async (command: Command): Promise<void> => {
    const problem = await tell(command);
    this.change((live) => ({ ...live, problem: problem || live.run.problem }));
  };

  private readonly choose = (step: number | null): void => this.change((live) => ({ ...live, chosen: step }));

  private pressed(event: KeyboardEvent): void {
    const { live } = this.state;
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || target instanceof HTMLSelectElement) return;
    if (event.key === " " && !(target instanceof HTMLButtonElement)) void this.tell({ do: live.run.running ? "pause" : "run" });
    else if (event.key === "ArrowRight") void this.tell({ do: "step" });
    else if (event.key === "ArrowLeft" && live.run.done > 0) void this.tell({ do: "back", step: live.run.done - 1 });
    else if (event.key === "Home") void this.tell({ do: "back", step: 0 });
    else if (event.key === "g" && shownStep(live) > 0) open(graphAddress(shownStep(live)), "_blank", "noopener");
    else return;
    event.preventDefault();
  }

  override render(): JSX.Element {
    const { live, theme, dark } = this.state;
    return (
      <div class="explorer live" data-theme={theme}>
        <header class="top">
          <h1>retrograd</h1>
          <span class="title">{title(live)}</span>
          <span class="space" />
          <button type="button" title="Colours" onClick={() => this.setState({ theme: THEMES[(THEMES.indexOf(theme) + 1) % 3] })}>
            {theme === "auto" ? "auto colours" : theme}
          </button>
        </header>
        <Controls live={live} tell={this.tell} choose={this.choose} />
        {live.opening && (
          <div class="run-tiles">
            <div class="run-column">
              <LossChart live={live} choose={this.choose} />
              <Norms live={live} />
              {live.opening.kind === "moons" && <Dead live={live} />}
            </div>
            <div class="run-column">
              {live.opening.kind === "moons" ? <Plane live={live} theme={`${theme} ${String(dark)}`} /> : <Samples live={live} />}
              {live.opening.kind === "gpt" && <Dead live={live} />}
            </div>
          </div>
        )}
        <footer class="hint">
          Space runs and pauses, → makes one step, ← goes one back, Home starts over with the same seed, G opens the graph.
        </footer>
      </div>
    );
  }
}

function title(live: Live): string {
  const { opening } = live;
  if (!opening) return "waiting for the training …";
  const { seed, points, n_layer, n_embd, block_size } = opening.settings;
  if (opening.kind === "moons") return `Two moons: ${points} points, an MLP 2-16-16-1, seed ${seed}`;
  return `A GPT on documents: ${n_layer} layer${n_layer === 1 ? "" : "s"}, ${n_embd} numbers a token, ${block_size} tokens, seed ${seed}`;
}

interface ControlsProps {
  readonly live: Live;
  readonly tell: (command: Command) => Promise<void>;
  readonly choose: (step: number | null) => void;
}

/** The buttons, where the run is, and what can be done with the step that is looked at. */
function Controls({ live, tell, choose }: ControlsProps): JSX.Element {
  const { run } = live;
  const finished = run.done >= run.steps;
  const paces = [...new Set([...PACES, ...(run.pace ? [run.pace] : [])])].sort((a, b) => a - b);
  return (
    <section class="run-controls" aria-label="Training">
      <div class="run-steer">
        <button type="button" disabled={run.done === 0} onClick={() => void tell({ do: "back", step: 0 })} title="Start over with the same seed (Home)">
          Start over
        </button>
        <button type="button" disabled={run.done === 0} onClick={() => void tell({ do: "back", step: run.done - 1 })} title="One step back (←)">
          Back
        </button>
        <button type="button" class="run-primary" disabled={finished} onClick={() => void tell({ do: run.running ? "pause" : "run" })} title="Space">
          {run.running ? "Pause" : "Run"}
        </button>
        <button type="button" disabled={finished} onClick={() => void tell({ do: "step" })} title="One step (→)">
          Step
        </button>
        <label class="run-speed">
          <span>steps a second</span>
          <select value={run.pace} onChange={(event) => void tell({ do: "pace", rate: Number(event.currentTarget.value) })}>
            {paces.map((pace) => (
              <option key={pace} value={pace}>
                {short(pace)}
              </option>
            ))}
            <option value={0}>all it can</option>
          </select>
        </label>
      </div>
      <progress max={run.steps} value={run.done} aria-label="Steps done" />
      <Shown live={live} tell={tell} choose={choose} />
      {!live.connected && live.opening && (
        <p class="problem" role="alert">
          The training has ended, or the connection is lost. What is shown stays.
        </p>
      )}
      {live.problem && (
        <p class="problem" role="alert">
          {live.problem}
        </p>
      )}
    </section>
  );
}

/** The step that is looked at in words, with what can be done with it. */
function Shown({ live, tell, choose }: ControlsProps): JSX.Element {
  const step = shownStep(live);
  const entry = live.entries[step - 1];
  const right = entry?.accuracy == null ? "" : `, ${Math.round(100 * entry.accuracy)} % right`;
  const old = live.before[step - 1];
  const same = entry && old ? (Object.is(entry.loss, old.loss) ? "; as before, to the last bit" : `; before it was ${short(old.loss, 6)}`) : "";
  return (
    <p class="run-shown">
      <span aria-live={live.run.running ? "off" : "polite"}>
        <b>Step {step}</b> of {live.run.steps}
        {entry ? `: loss ${short(entry.loss, 6)}${right}${same}` : ""}
      </span>
      {step > 0 && (
        <a class="run-action" href={graphAddress(step)} target="_blank" rel="noopener">
          open its graph
        </a>
      )}
      {live.chosen !== null && step < live.run.done && (
        <button type="button" onClick={() => void tell({ do: "back", step })}>
          go back here
        </button>
      )}
      {live.chosen !== null && (
        <button type="button" onClick={() => choose(null)}>
          look at the newest
        </button>
      )}
    </p>
  );
}

const place = document.getElementById("retrograd");
if (place) render(<Page />, place);
