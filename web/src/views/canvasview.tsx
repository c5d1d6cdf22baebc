/** The overview of a very large graph, on a canvas: its picture moves at once, and is drawn again when the view rests. */

import { Component, createRef, type JSX } from "preact";
import { LEAF } from "../model/graph";
import { short, thousands } from "../model/numbers";
import { isCovered } from "../state/state";
import type { State, Store } from "../state/store";
import { type Colors, colorsOf, NO_COLORS } from "./overview";
import { strength, tone } from "../parts/tone";
import { ViewBox } from "./viewbox";

interface Props {
  readonly store: Store;
  readonly state: State;
}

interface View {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

/** How long the view must rest before the picture is drawn again, in milliseconds. */
const REST = 90;
/** More wires in view than this are thinned out: at that distance they are a haze anyway. */
const WIRES = 12_000;

export class CanvasView extends Component<Props> {
  private readonly canvas = createRef<HTMLCanvasElement>();
  readonly view = new ViewBox();
  private now: View = { x: 0, y: 0, scale: 1 };
  /** The last picture, and the view that it shows. */
  private picture: HTMLCanvasElement | null = null;
  private drawn: View = this.now;
  private colors: Colors = NO_COLORS;
  private timer = 0;
  private frame = 0;

  override componentDidMount(): void {
    const canvas = this.canvas.current;
    if (canvas) this.view.attach(canvas, (x, y, scale) => this.moved({ x, y, scale }));
    this.fit();
    this.props.store.reach = (node) => {
      this.wanted = node;
      this.bring();
    };
  }

  override componentDidUpdate(before: Props): void {
    if (before.state.scene !== this.props.state.scene) this.fit();
    else this.redraw();
    this.bring();
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

  override componentWillUnmount(): void {
    this.view.detach();
    clearTimeout(this.timer);
    cancelAnimationFrame(this.frame);
  }

  zoom(factor: number): void {
    this.view.zoom(factor);
  }

  fit(): void {
    this.view.fit(this.props.state.scene.layout);
    this.redraw();
  }

  override render(): JSX.Element {
    const { state } = this.props;
    const count = thousands(state.scene.items.length);
    return (
      <canvas
        ref={this.canvas}
        role="img"
        tabIndex={0}
        aria-label={`Overview of ${count} boxes. Find a node with the slash key, or fold the graph to read it box by box.`}
        onClick={this.pick}
      />
    );
  }

  private moved(view: View): void {
    this.now = view;
    if (this.frame === 0) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.blit();
      });
    }
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.redraw(), REST);
  }

  /** Show the last picture where it belongs now. */
  private blit(): void {
    const canvas = this.canvas.current;
    const context = canvas?.getContext("2d");
    if (!canvas || !context || !this.picture) return;
    const ratio = devicePixelRatio;
    const factor = this.now.scale / this.drawn.scale;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = this.colors.paper;
    context.fillRect(0, 0, canvas.width, canvas.height);
    const [x, y] = [this.now.x - this.drawn.x * factor, this.now.y - this.drawn.y * factor];
    context.setTransform(factor, 0, 0, factor, x * ratio, y * ratio);
    context.drawImage(this.picture, 0, 0);
  }

  private redraw(): void {
    const canvas = this.canvas.current;
    if (!canvas) return;
    const ratio = devicePixelRatio;
    const { width, height } = canvas.getBoundingClientRect();
    canvas.width = Math.ceil(width * ratio);
    canvas.height = Math.ceil(height * ratio);
    this.picture ??= document.createElement("canvas");
    this.picture.width = canvas.width;
    this.picture.height = canvas.height;
    const context = this.picture.getContext("2d");
    if (!context) return;
    this.drawn = this.now;
    this.colors = colorsOf(canvas);
    const { x, y, scale } = this.now;
    context.fillStyle = this.colors.paper;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * x, ratio * y);
    const seen = { left: -x / scale, top: -y / scale, right: (width - x) / scale, bottom: (height - y) / scale };
    this.drawWires(context, seen);
    this.drawBoxes(context, seen);
    this.blit();
  }

  private drawWires(context: CanvasRenderingContext2D, seen: { left: number; top: number; right: number; bottom: number }): void {
    const { scene } = this.props.state;
    const inView = scene.layout.routes.filter((route) => {
      const [a, b] = [route[0], route[route.length - 1]];
      return Math.max(a.x, b.x) > seen.left && Math.min(a.x, b.x) < seen.right && Math.max(a.y, b.y) > seen.top && Math.min(a.y, b.y) < seen.bottom;
    });
    const stride = Math.ceil(inView.length / WIRES);
    context.strokeStyle = this.colors.wire;
    context.globalAlpha = 0.35;
    context.lineWidth = Math.min(3, 0.7 / this.now.scale);
    context.beginPath();
    for (let k = 0; k < inView.length; k += stride) {
      inView[k].forEach((point, index) => (index === 0 ? context.moveTo(point.x, point.y) : context.lineTo(point.x, point.y)));
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  private drawBoxes(context: CanvasRenderingContext2D, seen: { left: number; top: number; right: number; bottom: number }): void {
    const { state } = this.props;
    const { scene, shown, step, selection } = state;
    const { colors } = this;
    const here = shown.nodeOf(step);
    const readable = this.now.scale > 0.35;
    scene.items.forEach((item, index) => {
      const at = scene.layout.centres[index];
      const { width, height } = item.box;
      const [left, top] = [at.x - width / 2, at.y - height / 2];
      if (left > seen.right || left + width < seen.left || top > seen.bottom || top + height < seen.top) return;
      const grad = item.node === null || isCovered(state, item.node) ? null : shown.gradient(item.node, step);
      context.fillStyle = colors.card;
      context.fillRect(left, top, width, height);
      if (grad !== null && item.node !== null && shown.graph.isVariable(item.node)) {
        context.globalAlpha = 0.15 + 0.85 * strength(grad);
        context.fillStyle = colors[tone(grad)];
        if (readable) context.fillRect(left, top + height - 8, width, 8);
        else context.fillRect(left, top, width, height);
        context.globalAlpha = 1;
      }
      const chosen = selection?.kind === "node" && selection.id === item.node;
      if (chosen || (here !== null && here === item.node)) {
        context.strokeStyle = chosen ? colors.plus : colors.ink;
        context.lineWidth = Math.max(3, 3 / this.now.scale);
        context.strokeRect(left, top, width, height);
      }
      if (readable) this.drawText(context, state, index, left, top, colors.ink);
    });
  }

  private drawText(context: CanvasRenderingContext2D, state: State, index: number, left: number, top: number, ink: string): void {
    const item = state.scene.items[index];
    const { graph } = state.run;
    context.fillStyle = ink;
    context.font = "600 13px ui-monospace, 'DejaVu Sans Mono', monospace";
    const name = item.node === null ? (item.group?.name ?? "") : graph.names[item.node];
    context.fillText(name.slice(0, 15), left + 8, top + 20, item.box.width - 16);
    if (item.node === null) return;
    context.font = "12px ui-monospace, 'DejaVu Sans Mono', monospace";
    const what = graph.kinds[item.node] === LEAF ? "input" : graph.formula(item.node);
    context.fillText(`${short(state.shown.data[item.node])}  ${what}`.slice(0, 22), left + 8, top + 40, item.box.width - 16);
  }

  private readonly pick = (event: MouseEvent): void => {
    const frame = this.canvas.current?.getBoundingClientRect();
    if (!frame) return;
    const { scene } = this.props.state;
    const x = (event.clientX - frame.left - this.now.x) / this.now.scale;
    const y = (event.clientY - frame.top - this.now.y) / this.now.scale;
    const found = scene.items.findIndex((item, index) => {
      const at = scene.layout.centres[index];
      return Math.abs(at.x - x) <= item.box.width / 2 && Math.abs(at.y - y) <= item.box.height / 2;
    });
    const item = scene.items[found];
    if (item === undefined) this.props.store.select(null);
    else if (item.node !== null) this.props.store.select({ kind: "node", id: item.node });
    else if (item.group !== null) this.props.store.toggleGroup(item.group.id);
  };
}
