/** What opens over the page: the gallery, search, export, and the list of keys. */

import { Component, type JSX } from "preact";
import { splitInputs } from "../model/program";
import { PRESETS } from "../state/presets";
import type { State, Store } from "../state/store";
import { download, pngBlob, svgText } from "../views/exportimage";
import { nodeLabel } from "../views/labels";
import { colorsOf, overviewSvg } from "../views/overview";
import { Dialog } from "./dialog";
import { KEYS } from "./keys";
import { Share } from "./share";

interface Props {
  readonly store: Store;
  readonly state: State;
}

export function Dialogs(props: Props): JSX.Element | null {
  switch (props.state.dialog) {
    case "examples":
      return <Examples {...props} />;
    case "find":
      return <Find {...props} />;
    case "export":
      return <Export {...props} />;
    case "share":
      return <Share {...props} />;
    case "help":
      return <Help {...props} />;
    case null:
      return null;
  }
}

function Examples({ store }: Props): JSX.Element {
  return (
    <Dialog store={store} title="Examples">
      <ul class="gallery">
        {PRESETS.map((preset) => (
          <li key={preset.name}>
            <button type="button" onClick={() => store.open(splitInputs(preset.text))}>
              <b>{preset.name}</b>
              <span>{preset.about}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

/** The most results that are listed. */
const MOST = 50;

class Find extends Component<Props, { readonly query: string }> {
  override state = { query: "" };

  override render(): JSX.Element {
    const { store, state } = this.props;
    const { query } = this.state;
    const found = search(state, query);
    const choose = (node: number): void => {
      store.set({ dialog: null });
      store.show(node);
      store.reach(node);
    };
    return (
      <Dialog store={store} title="Find a node">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (found.length) choose(found[0]);
          }}
        >
          <input type="text" class="query" autofocus aria-label="Name, formula or operation" placeholder="a name, a formula, an operation, a line" value={query} onInput={(event) => this.setState({ query: event.currentTarget.value })} />
        </form>
        <p class="hint" role="status">
          {query === "" ? "Enter opens the first." : found.length === MOST ? `${MOST} and more` : `${found.length} found`}
        </p>
        <ul class="found">
          {found.map((node) => (
            <li key={node}>
              <button type="button" onClick={() => choose(node)}>
                {nodeLabel(state, node)}
              </button>
            </li>
          ))}
        </ul>
      </Dialog>
    );
  }
}

/** The nodes that a query means: by name first, then by formula, operation, source line or group. */
export function search(state: State, query: string): number[] {
  const wanted = query.trim().toLowerCase();
  if (wanted === "") return [];
  const { graph } = state.run;
  const [exact, starts, rest]: [number[], number[], number[]] = [[], [], []];
  for (let node = 0; node < graph.count; node++) {
    if (!graph.isVariable(node)) continue;
    const name = graph.names[node].toLowerCase();
    if (name === wanted) exact.push(node);
    else if (name.startsWith(wanted)) starts.push(node);
    else if (rest.length < MOST && mentions(state, node, wanted)) rest.push(node);
  }
  return [...exact, ...starts, ...rest].slice(0, MOST);
}

function mentions(state: State, node: number, wanted: string): boolean {
  const { graph } = state.run;
  const source = graph.sources[node];
  const texts = [graph.names[node], graph.rows[node], graph.ops[node], source?.text ?? "", source?.function ?? "", state.tree.home[node].name, state.tree.home[node].path];
  return texts.some((text) => text.toLowerCase().includes(wanted)) || graph.formula(node).toLowerCase().includes(wanted);
}

function Export({ store, state }: Props): JSX.Element {
  const text = (event: Event): string => {
    const page = (event.currentTarget as Element).closest<HTMLElement>(".explorer");
    const svg = page?.querySelector<SVGSVGElement>(".graph") ?? null;
    if (svg !== null) return svgText(svg, state.scene.layout, state.run.graph.title);
    const canvas = page?.querySelector<HTMLElement>("canvas");
    return canvas ? overviewSvg(state, colorsOf(canvas)) : "";
  };
  const svg = (event: Event): void => download(new Blob([text(event)], { type: "image/svg+xml" }), "graph.svg");
  const png = (event: Event): void => {
    pngBlob(text(event)).then(
      (blob) => download(blob, "graph.png"),
      (problem: Error) => store.set({ problem: { text: problem.message } }),
    );
  };
  return (
    <Dialog store={store} title="Save or print">
      <ul class="gallery">
        <li>
          <button type="button" onClick={svg}>
            <b>SVG</b>
            <span>The graph as it is now, to be scaled and edited.</span>
          </button>
        </li>
        <li>
          <button type="button" onClick={png}>
            <b>PNG</b>
            <span>The graph as a picture, at twice its size.</span>
          </button>
        </li>
        <li>
          <button type="button" onClick={() => download(new Blob([JSON.stringify(store.trace())], { type: "application/json" }), "trace.json")}>
            <b>Trace</b>
            <span>Every step as JSON, as retrograd explain writes it.</span>
          </button>
        </li>
        <li>
          <button
            type="button"
            onClick={() => {
              store.set({ dialog: null });
              requestAnimationFrame(() => print());
            }}
          >
            <b>Print</b>
            <span>The graph and the view beside it.</span>
          </button>
        </li>
      </ul>
    </Dialog>
  );
}

function Help({ store }: Props): JSX.Element {
  return (
    <Dialog store={store} title="What you see">
      <p>
        Each box is one number. Values flow to the right as the program runs; gradients flow back to the left, along the same wires. On every wire the
        contribution is <i>local derivative × upstream gradient</i>, and a gradient is the sum of all contributions that arrive.
      </p>
      <ul class="legend">
        <li>
          <span class="swatch plus" /> blue, with a plus: growing this number makes the result grow
        </li>
        <li>
          <span class="swatch minus" /> vermilion, with a minus: growing it makes the result shrink
        </li>
        <li>
          <span class="swatch size" /> the bar in a box and the weight of a wire: its size, on one logarithmic scale for all graphs, from 0.000001 to 1000. The bars
          of the thermometer are to scale.
        </li>
      </ul>
      <p class="actions">
        <button type="button" onClick={() => store.set({ dialog: null, tour: 0 })}>
          Show me around
        </button>
      </p>
      <table class="keys">
        <tbody>
          {KEYS.map(([keys, what]) => (
            <tr key={keys}>
              <th scope="row">
                {keys.split("  ").map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </th>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}
