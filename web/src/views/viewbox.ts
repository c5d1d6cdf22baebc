/** Pan and zoom of the graph, by wheel, drag, pinch and keys; nothing here knows what is drawn. */

import type { Layout } from "../layout/layout";

const MARGIN = 28;
const CLOSEST = 2.4;
/** A graph that fits is not blown up beyond this. */
const FITTED = 1.25;
/** At first it is not made smaller than this either: what cannot be read is no use. The largest text of a box is 20 (graph.css). */
export const READABLE = 0.435;
const AT_FIRST = 0.6;

export class ViewBox {
  private x = 0;
  private y = 0;
  private scale = 1;
  private frame: HTMLElement | SVGElement | null = null;
  private readonly pointers = new Map<number, { x: number; y: number }>();
  private resize: ResizeObserver | null = null;
  private layout: Layout | null = null;
  /** Until the user moves the view, it follows the size of its frame. */
  private fitted = true;
  /** The view on the screen, while a page is printed. */
  private before: { readonly x: number; readonly y: number; readonly scale: number; readonly fitted: boolean } | null = null;
  private show: (x: number, y: number, scale: number) => void = () => undefined;

  /** Listen on a frame; `show` is called whenever the view changes. */
  attach(svg: HTMLElement | SVGElement, show: (x: number, y: number, scale: number) => void): void {
    this.frame = svg;
    this.show = show;
    for (const [name, listener] of this.listeners()) svg.addEventListener(name, listener, { passive: false });
    this.resize = new ResizeObserver(() => (this.fitted && this.layout ? this.fit(this.layout) : this.apply()));
    this.resize.observe(svg);
    addEventListener("beforeprint", this.forPaper);
    addEventListener("afterprint", this.forScreen);
  }

  /** On paper all of it is shown, as large as the paper is wide: the frame has another width there. */
  private readonly forPaper = (): void => {
    const frame = this.frame?.getBoundingClientRect();
    if (!this.layout || !frame || frame.width === 0) return;
    this.before = { x: this.x, y: this.y, scale: this.scale, fitted: this.fitted };
    this.fit(this.layout);
    this.frame?.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
  };

  private readonly forScreen = (): void => {
    if (this.before === null) return;
    Object.assign(this, this.before);
    this.before = null;
    this.frame?.removeAttribute("viewBox");
    this.apply();
  };

  detach(): void {
    removeEventListener("beforeprint", this.forPaper);
    removeEventListener("afterprint", this.forScreen);
    this.resize?.disconnect();
    for (const [name, listener] of this.listeners()) this.frame?.removeEventListener(name, listener);
  }

  private listeners(): readonly (readonly [string, EventListener])[] {
    const all = { wheel: this.wheel, pointerdown: this.down, pointermove: this.move, pointerup: this.up, pointercancel: this.up };
    return Object.entries(all).map(([name, listener]) => [name, listener as EventListener] as const);
  }

  fit(layout: Layout): void {
    this.layout = layout;
    this.fitted = true;
    const frame = this.frame?.getBoundingClientRect();
    if (!frame || frame.width === 0) return;
    const [width, height] = [frame.width - 2 * MARGIN, frame.height - 2 * MARGIN];
    this.scale = Math.max(0.002, Math.min(FITTED, width / Math.max(1, layout.width), height / Math.max(1, layout.height)));
    this.x = frame.width / 2 - (layout.width / 2) * this.scale;
    this.y = frame.height / 2 - (layout.height / 2) * this.scale;
    this.apply();
  }

  /** Show all of it, or as much around a point as can be read. */
  home(layout: Layout, x: number, y: number): void {
    this.fit(layout);
    if (this.scale >= READABLE || !this.frame) return;
    this.scale = AT_FIRST;
    this.lookAt(x, y);
  }

  /** Whether something is out of sight or too small to read, or was moved by the reader. */
  get isAway(): boolean {
    return !this.fitted || this.scale < READABLE;
  }

  /** Whether the graph is larger than its frame: then it is what a finger moves, and not the page. */
  get isBeyond(): boolean {
    const frame = this.frame?.getBoundingClientRect();
    return frame !== undefined && this.layout !== null && (this.layout.width * this.scale > frame.width || this.layout.height * this.scale > frame.height);
  }

  /** As near to the middle as it can be without showing more than a margin beside the graph. */
  private lookAt(x: number, y: number): void {
    const frame = this.frame?.getBoundingClientRect();
    if (!frame || frame.width === 0) return;
    const place = (at: number, whole: number, room: number): number => {
      const free = room - whole * this.scale;
      return free > 2 * MARGIN ? free / 2 : Math.max(free - MARGIN, Math.min(MARGIN, room / 2 - at * this.scale));
    };
    this.fitted = false;
    this.x = place(x, this.layout?.width ?? 0, frame.width);
    this.y = place(y, this.layout?.height ?? 0, frame.height);
    this.apply();
  }

  /** Bring a point of the layout into the middle, near enough to read. */
  centre(x: number, y: number, least = 0.8): void {
    const frame = this.frame?.getBoundingClientRect();
    if (!frame || frame.width === 0) return;
    this.fitted = false;
    this.scale = Math.max(this.scale, least);
    this.x = frame.width / 2 - x * this.scale;
    this.y = frame.height / 2 - y * this.scale;
    this.apply();
  }

  /** Move the view, at the scale that it has, as far as it takes to see a box. */
  follow(x: number, y: number, width: number, height: number): void {
    const frame = this.frame?.getBoundingClientRect();
    if (!frame || frame.width === 0 || this.pointers.size) return;
    const [left, top] = [this.x + (x - width / 2) * this.scale, this.y + (y - height / 2) * this.scale];
    const [right, bottom] = [left + width * this.scale, top + height * this.scale];
    if (left >= 4 && top >= 4 && right <= frame.width - 4 && bottom <= frame.height - 4) return;
    this.lookAt(x, y);
  }

  zoom(factor: number): void {
    const frame = this.frame?.getBoundingClientRect();
    if (frame) this.zoomAt(frame.width / 2, frame.height / 2, factor);
  }

  private zoomAt(x: number, y: number, factor: number): void {
    const scale = Math.max(0.002, Math.min(CLOSEST, this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.fitted = false;
    this.apply();
  }

  private readonly wheel = (event: WheelEvent): void => {
    const frame = this.frame?.getBoundingClientRect();
    if (!frame) return;
    event.preventDefault();
    this.zoomAt(event.clientX - frame.left, event.clientY - frame.top, Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)));
  };

  private readonly down = (event: PointerEvent): void => {
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  };

  private readonly move = (event: PointerEvent): void => {
    const before = this.pointers.get(event.pointerId);
    if (before === undefined) return;
    const [dx, dy] = [event.clientX - before.x, event.clientY - before.y];
    if (this.pointers.size === 1 && Math.abs(dx) + Math.abs(dy) < 4 && this.frame?.hasPointerCapture(event.pointerId) === false) return;
    this.frame?.setPointerCapture(event.pointerId);
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    this.pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (other !== undefined) {
      const apart = (point: { x: number; y: number }): number => Math.hypot(point.x - other.x, point.y - other.y);
      const frame = this.frame?.getBoundingClientRect();
      const factor = apart({ x: event.clientX, y: event.clientY }) / Math.max(1, apart(before));
      this.zoomAt((event.clientX + other.x) / 2 - (frame?.left ?? 0), (event.clientY + other.y) / 2 - (frame?.top ?? 0), factor);
      return;
    }
    this.fitted = false;
    this.x += dx;
    this.y += dy;
    this.apply();
  };

  private readonly up = (event: PointerEvent): void => {
    this.pointers.delete(event.pointerId);
  };

  private apply(): void {
    this.show(this.x, this.y, this.scale);
  }
}
