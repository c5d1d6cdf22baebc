/** Boxes: one for every node, with its number and its gradient, and one for every folded group. */

import type { JSX } from "preact";
import type { Group } from "../model/fold";
import { LEAF } from "../model/graph";
import { signed, short, thousands } from "../model/numbers";
import type { Item } from "../layout/scene";
import { players, searched, searchMoves } from "../lab/order";
import { isCovered } from "../state/state";
import type { State } from "../state/store";
import { groupRange, nodeLabel } from "./labels";
import { Marked, type Props } from "./marked";
import { timesOf } from "../parts/num";
import { strength, tone } from "../parts/tone";

interface BoxProps extends Props {
  readonly item: Item;
  readonly index: number;
  readonly mark: string;
}

/** What a box looks like now: its classes, and its numbers as far as they are known. */
export function boxMark(state: State, item: Item, index: number): string {
  const { shown, step, selection } = state;
  const { graph } = shown;
  const here = shown.nodeOf(step);
  if (item.group !== null) {
    const now = here !== null && state.scene.seenIn[here] === index ? " now" : "";
    const chosen = selection?.kind === "group" && selection.id === item.group.id ? " chosen" : "";
    return `box group${now}${chosen}|${groupRange(state, item.group)}`;
  }
  const node = item.node ?? 0;
  const classes = ["box", graph.kinds[node] === LEAF ? "leaf" : graph.isVariable(node) ? "operation" : "constant"];
  const now = here === node || (step === 0 && graph.kinds[node] === LEAF);
  if (now && state.tab !== "sort") classes.push("now");
  if (selection?.kind === "node" && selection.id === node) classes.push("chosen");
  if (node === graph.root) classes.push("root");
  if (state.edits.has(node)) classes.push("edited");
  if (!Number.isFinite(shown.data[node]) || !Number.isFinite(shown.gradient(node, step) ?? 0)) classes.push("odd");
  if (state.tab === "sort") classes.push(...searchMark(state, node));
  const covered = isCovered(state, node);
  return `${classes.join(" ")}|${shown.hasData(node, step)} ${covered ? "?" : shown.gradient(node, step)}`;
}

export class BoxView extends Marked<BoxProps> {
  override render(): JSX.Element {
    const { item, index, store, state, mark } = this.props;
    const [classes, range] = mark.split("|");
    if (item.group !== null) return <GroupView group={item.group} item={item} index={index} store={store} state={state} classes={classes} range={range} />;
    const node = item.node ?? 0;
    const { shown } = state;
    const at = state.scene.layout.centres[index];
    const constant = !shown.graph.isVariable(node);
    const chosen = state.selection?.kind === "node" && state.selection.id === node;
    const { width, height } = item.box;
    return (
      <g
        class={classes}
        transform={`translate(${at.x - width / 2},${at.y - height / 2})`}
        tabIndex={0}
        role="button"
        aria-pressed={chosen}
        aria-label={nodeLabel(state, node)}
        data-node={node}
        onClick={() => store.select({ kind: "node", id: node })}
        onFocus={() => !chosen && store.select({ kind: "node", id: node })}
      >
        <rect class="frame" width={width} height={height} rx={constant ? height / 2 : 10} />
        {constant ? (
          <text class={`name${short(shown.data[node]).length > 5 ? " long" : ""}`} x={width / 2} y={height / 2} dominant-baseline="central" text-anchor="middle">
            {short(shown.data[node])}
          </text>
        ) : (
          <NodeText state={state} node={node} width={width} />
        )}
      </g>
    );
  }
}

/** Text that fits a width, for boxes whose letters are about `size` wide. */
export function clipped(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`;
}

/** A number with more letters is smaller where a box is drawn small. */
const ROOM = 7;

/** The end of a name that is too long: its indices tell it from its neighbours. */
function ending(name: string, most: number): string {
  return name.length <= most ? name : `…${name.slice(1 - most)}`;
}

function NodeText({ state, node, width }: { state: State; node: number; width: number }): JSX.Element {
  const { shown, step } = state;
  const { graph } = shown;
  const has = shown.hasData(node, step);
  const covered = isCovered(state, node) && shown.isBackward(step);
  const grad = covered ? null : shown.gradient(node, step);
  const name = ending(graph.names[node], 12);
  const right = graph.kinds[node] === LEAF ? "input" : prettyFormula(graph.formula(node), timesOf(state));
  const share = grad === null ? 0 : strength(grad);
  const kind = grad === null ? "zero" : tone(grad);
  const gradient = covered ? "?" : grad === null ? "·" : signed(grad);
  const bar = share * (width - 20) * 0.5;
  const formula = clipped(right, Math.max(4, 17 - Math.ceil(1.2 * name.length)));
  // In letters of 16 and 15 pixels, as a box has them where it is drawn small (graph.css).
  const long = 9.7 * name.length + 9 * formula.length > width - 28;
  return (
    <>
      <text class="name near" x={11} y={19}>
        {name}
      </text>
      <FarText name={ending(graph.names[node], 10)} numbers={[has ? short(shown.data[node], 3) : "·", ...(grad === null ? [] : [signed(grad, 3)])]} kind={kind} width={width} />
      <text class={long ? "formula long" : "formula"} x={width - 11} y={19} text-anchor="end">
        {formula}
      </text>
      <text class="word" x={11} y={38}>
        data
      </text>
      <text class="number data near" x={width - 11} y={38} text-anchor="end">
        {has ? short(shown.data[node]) : "·"}
      </text>
      <text class="word" x={11} y={56}>
        grad
      </text>
      <text class={`number grad near ${kind}${gradient.length > ROOM ? " long" : ""}`} x={width - 11} y={56} text-anchor="end">
        {gradient}
      </text>
      {grad !== null && <rect class={`bar ${kind}`} x={grad < 0 ? width / 2 - bar : width / 2} y={61} width={bar} height={3} rx={1.5} />}
      {grad !== null && <rect class="axis" x={width / 2 - 0.5} y={60.5} width={1} height={4} />}
    </>
  );
}

/** Where the lines of a box stand that is seen from afar, its name first. */
const LINES: readonly (readonly number[])[] = [[28, 52], [20, 39, 57]];

/** What a box says from afar: its name, and below it its value and its gradient, as far as they are known. */
function FarText({ name, numbers, kind, width }: { name: string; numbers: readonly string[]; kind: string; width: number }): JSX.Element {
  const lines = LINES[numbers.length - 1];
  return (
    <g class="afar" aria-hidden="true">
      <text x={width / 2} y={lines[0]} text-anchor="middle" class="name">
        {clipped(name, Math.floor(width / 13.5))}
      </text>
      {numbers.map((number, k) => (
        <text key={k} x={width / 2} y={lines[k + 1]} text-anchor="middle" class={k === 1 ? `number grad ${kind}` : "number"}>
          {number}
        </text>
      ))}
    </g>
  );
}

/** Where the depth-first search is. */
function searchMark(state: State, node: number): string[] {
  if (players(state.run).length > SEARCHED) return [];
  const moves = searchMoves(state.run);
  const { visited, order } = searched(moves, state.search);
  const at = state.search > 0 && moves[state.search - 1].node === node ? ["here"] : [];
  return [...at, ...(order.includes(node) ? ["done"] : visited.includes(node) ? ["seen"] : [])];
}

/** The search is shown on graphs of up to so many nodes. */
export const SEARCHED = 60;

/** Signs as people write them. */
export function prettyFormula(text: string, times: string): string {
  return text.replace(/(\d)\.0\b/g, "$1").replace(/ \* /g, ` ${times} `).replace(/ \/ /g, " ÷ ").replace(/ - /g, " − ").replace(/^-/, "−");
}

interface GroupProps extends Props {
  readonly group: Group;
  readonly item: Item;
  readonly index: number;
  readonly classes: string;
  readonly range: string;
}

function GroupView({ group, item, index, store, state, classes, range }: GroupProps): JSX.Element {
  const at = state.scene.layout.centres[index];
  const { width, height } = item.box;
  const label = `${group.name}, ${group.size} operations`;
  const count = group.size || group.count;
  const size = `${thousands(count)} ${group.size ? "operation" : "input"}${count === 1 ? "" : "s"}`;
  return (
    <g
      class={classes}
      transform={`translate(${at.x - width / 2},${at.y - height / 2})`}
      tabIndex={0}
      role="button"
      aria-label={`${label}. Folded: press Enter to unfold.`}
      data-group={group.id}
      onClick={() => store.toggleGroup(group.id)}
      onFocus={() => store.select({ kind: "group", id: group.id })}
    >
      <title>{`${label}: click to unfold`}</title>
      <rect class="frame back2" x={5} y={5} width={width} height={height} rx={10} />
      <rect class="frame" width={width} height={height} rx={10} />
      <FarText name={group.name.split(".").pop() ?? group.name} numbers={[size]} kind="" width={width} />
      <text class="name near" x={11} y={21}>
        {clipped(group.name, 17)}
      </text>
      <text class="word" x={11} y={39}>
        {size}
      </text>
      <text class="word" x={11} y={56}>
        {range}
      </text>
      <path class="unfold near" d={`M${width - 16},12v10m-5,-5h10`} aria-hidden="true" />
    </g>
  );
}
