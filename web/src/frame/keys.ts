/** The keyboard: every key that the page knows, in one place. */

import { LEAF } from "../model/graph";
import type { Store } from "../state/store";

/** What the help shows: keys and what they do. */
export const KEYS: readonly (readonly [string, string])[] = [
  ["→  ←", "one step forward, one back"],
  ["Shift →  Shift ←", "next phase, previous phase"],
  ["Space", "play or pause"],
  ["Home  End", "to the first step, to the last"],
  ["Tab", "along the nodes, operands before results"],
  ["Enter", "inspect a node, unfold a group"],
  ["Backspace", "fold the group around the selected node"],
  ["E", "edit the selected input"],
  ["S  L  W  T", "step, ledger, waterfall, thermometer"],
  ["V  M  Y", "slope, formula, why this gradient"],
  ["O  G  P  B", "the search for an order, the order game, predict, bug lab"],
  ["D", "all digits, or four"],
  ["/", "find a node"],
  ["F", "fit the graph"],
  ["Ctrl Z  Ctrl Y", "undo, redo"],
  ["?", "this list"],
];

/** Act on a key that was pressed inside the page. */
export function keyPressed(event: KeyboardEvent, target: HTMLElement, store: Store, fit: () => void): void {
  if (target.closest("dialog") || event.altKey) return;
  if (event.ctrlKey || event.metaKey) {
    if (target.matches("input[type=text], textarea")) return;
    const key = event.key.toLowerCase();
    if (key === "z") act(event, () => (event.shiftKey ? store.redo() : store.undo()));
    else if (key === "y") act(event, () => store.redo());
    return;
  }
  if (target.matches("input[type=text], input[type=number], textarea, select, input[type=range]:not([aria-label=Step])")) {
    if (event.key === "Escape") target.closest<HTMLElement>(".explorer")?.focus({ preventScroll: true });
    return;
  }
  const action = actionOf(event, target, store, fit);
  if (action !== null) act(event, action);
}

function act(event: KeyboardEvent, action: () => void): void {
  event.preventDefault();
  event.stopPropagation();
  action();
}

function actionOf(event: KeyboardEvent, target: HTMLElement, store: Store, fit: () => void): (() => void) | null {
  const { state } = store;
  switch (event.key) {
    case "ArrowRight":
      return target.role === "tab" ? () => neighbour(target, 1) : () => (event.shiftKey ? store.nextPhase() : store.forward());
    case "ArrowLeft":
      return target.role === "tab" ? () => neighbour(target, -1) : () => (event.shiftKey ? store.previousPhase() : store.back());
    case "Home":
      return () => store.goTo(0);
    case "End":
      return () => store.goTo(state.shown.stepCount - 1);
    case " ":
      return target.matches("button, a, input, [role=tab]") ? null : () => store.play();
    case "Enter":
      return target.dataset.group !== undefined
        ? () => store.toggleGroup(Number(target.dataset.group))
        : target.dataset.node !== undefined
          ? () => {
              store.setTab("step");
              store.select({ kind: "node", id: Number(target.dataset.node) });
            }
          : null;
    case "Backspace":
      return state.selection?.kind === "node" ? () => store.foldAround() : null;
    case "Escape":
      return () => (state.tour !== null ? store.set({ tour: null }) : state.dialog === null ? store.select(null) : store.set({ dialog: null }));
    default:
      return letter(event.key.toLowerCase(), target, store, fit);
  }
}

function letter(key: string, target: HTMLElement, store: Store, fit: () => void): (() => void) | null {
  const tabs = { t: "influence", l: "ledger", w: "waterfall", g: "game", p: "predict", b: "bugs", s: "step", m: "formula", y: "why", v: "slope", o: "sort" } as const;
  if (key in tabs) return () => store.setTab(tabs[key as keyof typeof tabs]);
  const { state } = store;
  switch (key) {
    case "f":
      return fit;
    case "/":
      return () => store.set({ dialog: "find" });
    case "?":
      return () => store.set({ dialog: "help" });
    case "d":
      return () => store.prefer({ digits: state.digits ? 0 : 4 });
    case "e":
      return () => editSelected(target, store);
    default:
      return null;
  }
}

/** Focus the field of the selected input, or of the first one. */
function editSelected(target: HTMLElement, store: Store): void {
  const { selection, run } = store.state;
  const own = selection?.kind === "node" && run.graph.kinds[selection.id] === LEAF ? selection.id : run.graph.leaves[0];
  const page = target.closest(".explorer");
  store.setTab("step");
  requestAnimationFrame(() => {
    const field = page?.querySelector<HTMLInputElement>(`[data-leaf="${own}"]`);
    field?.focus();
    field?.select();
  });
}

function neighbour(tab: HTMLElement, by: number): void {
  const all = [...(tab.parentElement?.querySelectorAll<HTMLElement>("[role=tab]") ?? [])];
  const next = all[(all.indexOf(tab) + by + all.length) % all.length];
  next?.click();
  next?.focus();
}
