/** The graph: boxes with their numbers, a wire for every operand occurrence, values going right and gradients left. */

import { Component, createRef, type JSX } from "preact";
import { mainPath } from "../lab/paths";
import { askedAbout, type State, type Store } from "../state/store";
import { boxMark, BoxView } from "./boxes";
import { moveTokens } from "./tokens";
import { ViewBox } from "./viewbox";
import { wireMark, WireView } from "./wires";

/** Below these scales the text of a box is larger; a box shows its name and its gradient alone, larger still; and nothing but its colour. */
const MIDDLING = 0.82;
const FAR = 0.6;
const FARTHEST = 0.16;

interface Props {
  readonly store: Store;
  readonly state: State;
  /** Called when the view has changed. */
  readonly onView?: (view: ViewBox) => void;
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
        world.classList.toggle("middling", scale >= FAR && scale < MIDDLING);
        world.classList.toggle("far", scale < FAR);
        world.classList.toggle("farthest", scale < FARTHEST);
        svg.toggleAttribute("data-beyond", this.view.isBeyond);
        this.props.onView?.(this.view);
      });
    }
    this.home();
    this.props.store.reach = (node) => {
      this.wanted = node;
      this.bring();
    };
  }

  /** Whether the focus is on something in here, which the update may take away. */
  override getSnapshotBeforeUpdate(): boolean {
    const svg = this.svg.current;
    return svg?.contains(svg.ownerDocument.activeElement) ?? false;
  }

  override componentDidUpdate(before: Props, _: object, hadFocus: boolean): void {
    const { state } = this.props;
    const moved = before.state.step !== state.step || before.state.shown !== state.shown;
    if (before.state.scene !== state.scene) this.opened(before.state, hadFocus);
    else if (moved) this.followStep();
    // What is wanted may have come with this very scene.
    this.bring();
    if (moved) {
      this.stop();
      if (state.moving && this.tokens.current && this.svg.current) {
        this.stop = moveTokens(state, this.svg.current, this.tokens.current);
      }
    }
  }

  /** Another scene: where a group was opened, it and what is in it stay in view. */
  private opened(before: State, hadFocus: boolean): void {
    const { state } = this.props;
    this.home();
    if (before.tree !== state.tree) return;
    const inside = state.tree.groups.find((group) => state.open.has(group.id) && !before.open.has(group.id));
    const first = inside === undefined ? undefined : state.scene.items.find(({ node, group }) => (node === null ? group : state.tree.home[node]) === inside || group?.parent === inside);
    if (first === undefined) return;
    const at = state.scene.layout.centres[state.scene.items.indexOf(first)];
    this.view.follow(at.x, at.y, first.box.width, first.box.height);
    // The box that had the focus is gone: its first part has it now.
    if (hadFocus && this.svg.current?.ownerDocument.activeElement === document.body) {
      this.svg.current.querySelector<SVGGElement>(first.node === null ? `[data-group="${first.group?.id}"]` : `[data-node="${first.node}"]`)?.focus();
    }
  }

  /** The node that is to be brought into view, until it is there. */
  private wanted: number | null = null;

  private bring(): void {
    const { scene } = this.props.store.state;
    if (this.wanted === null || scene !== this.props.state.scene) return;
    const at = scene.layout.centres[scene.seenIn[this.wanted]];
    this.wanted = null;
    this.view.centre(at.x, at.y);
  }

  private followStep(): void {
    const { shown, step } = this.props.state;
    this.look(shown.nodeOf(step) ?? shown.graph.leaves[0] ?? shown.graph.root);
  }

  /** See to it that a node is in view, at the scale that is. */
  look(node: number): void {
    this.lookAtItem(this.props.state.scene.seenIn[node]);
  }

  private lookAtItem(item: number): void {
    const { layout, items } = this.props.state.scene;
    const at = layout.centres[item];
    if (at !== undefined) this.view.follow(at.x, at.y, items[item].box.width, items[item].box.height);
  }

  /** What the keyboard comes to is in view. */
  private readonly focused = (event: FocusEvent): void => {
    const { node, group } = (event.target as SVGElement).dataset;
    if (node !== undefined) this.look(Number(node));
    else if (group !== undefined) this.lookAtItem(this.props.state.scene.items.findIndex((item) => item.group?.id === Number(group)));
  };

  /** All of the graph, or as much around the step's node as can be read. */
  home(): void {
    const { shown, step, scene } = this.props.state;
    const node = shown.nodeOf(step) ?? shown.graph.leaves[0] ?? shown.graph.root;
    const at = scene.layout.centres[scene.seenIn[node]];
    this.view.home(scene.layout, at.x, at.y);
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
    const followed = state.tab === "why" ? new Set(mainPath(state.run, askedAbout(state)).edges) : null;
    return (
      <svg
        ref={this.svg}
        class={followed === null ? "graph" : "graph following"}
        role="group"
        aria-label={`The graph of ${state.run.graph.title || "this value"}`}
        onFocusIn={this.focused}
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
