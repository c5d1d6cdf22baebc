/** What is drawn: a box for each visible node and each closed group, and the links between them, laid out. */

import type { FoldTree, Group } from "../model/fold";
import { CONSTANT, type Graph, OPERATION } from "../model/graph";
import { type Box, type Layout, layOut, type Link, pathOf, turned } from "./layout";

/** More boxes than this are drawn on a canvas. */
export const SVG_MOST = 900;
export const NODE: Box = { width: 136, height: 66 };
export const SMALL: Box = { width: 68, height: 34 };
export const GROUP: Box = { width: 168, height: 66 };
const SPACING = { rank: 62, box: 20, edge: 10 };
const VERTICAL_SPACING = { rank: 48, box: 16, edge: 10 };

/** The room for the graph, in pixels. */
export interface Room {
  readonly width: number;
  readonly height: number;
}

/** Up to so many boxes both directions are tried. */
const TRIED = 160;
/** Larger graphs go from top to bottom where the page is narrower than this. */
const NARROW = 620;

export interface Item {
  /** `n12` for a node, `g3` for a group. */
  readonly key: string;
  /** The node, or null for a group. */
  readonly node: number | null;
  readonly group: Group | null;
  readonly box: Box;
}

/** One operand occurrence; or, where a group is at an end, all of those between the two. */
export interface Wire extends Link {
  readonly edges: readonly number[];
}

export interface Scene {
  readonly items: readonly Item[];
  readonly wires: readonly Wire[];
  readonly layout: Layout;
  /** The SVG path of each wire. */
  readonly paths: readonly string[];
  /** The item in which each node is seen. */
  readonly seenIn: Int32Array;
  /** From top to bottom, for narrow pages, instead of from left to right. */
  readonly vertical: boolean;
}

/** What is seen of a graph, laid out from top to bottom or not as `room` says, or else in the direction in which it is seen larger there. */
export function buildScene(tree: FoldTree, open: ReadonlySet<number>, room: Room | boolean | null): Scene {
  const seen = itemsOf(tree, open);
  if (typeof room === "boolean") return laidOut(tree.graph, seen, room);
  const known = room !== null && room.width > 0 && room.height > 0;
  if (!known || seen.items.length > TRIED) return laidOut(tree.graph, seen, known && room.width < NARROW);
  const [across, down] = [false, true].map((vertical) => laidOut(tree.graph, seen, vertical));
  return scaleOf(down.layout, room) > 1.1 * scaleOf(across.layout, room) ? down : across;
}

/** How large a layout can be drawn. */
function scaleOf(layout: Layout, room: Room): number {
  return Math.min(1, room.width / Math.max(1, layout.width + 56), room.height / Math.max(1, layout.height + 56));
}

interface Seen {
  readonly items: readonly Item[];
  readonly seenIn: Int32Array;
}

function itemsOf(tree: FoldTree, open: ReadonlySet<number>): Seen {
  const { graph } = tree;
  const items: Item[] = [];
  const seenIn = new Int32Array(graph.count);
  const groupItem = new Map<Group, number>();
  const place = outermostClosed(tree, open);
  for (let node = 0; node < graph.count; node++) {
    const group = place[tree.home[node].id];
    let item = group === null ? undefined : groupItem.get(group);
    if (item === undefined) {
      item = items.length;
      items.push(group === null ? nodeItem(graph, node) : { key: `g${group.id}`, node: null, group, box: GROUP });
      if (group !== null) groupItem.set(group, item);
    }
    seenIn[node] = item;
  }
  return { items, seenIn };
}

function laidOut(graph: Graph, { items, seenIn }: Seen, vertical: boolean): Scene {
  const wires = wiresBetween(graph, items, seenIn, vertical);
  const boxes = items.map(({ box }) => (vertical ? { width: box.height, height: box.width } : box));
  const layout = layOut(boxes, wires, vertical ? VERTICAL_SPACING : SPACING);
  const placed = vertical ? turned(layout) : layout;
  // A canvas draws its wires from the routes.
  const paths = items.length > SVG_MOST ? [] : placed.routes.map((route) => pathOf(route, vertical));
  return { items, wires, layout: placed, paths, seenIn, vertical };
}

/** For each group the outermost closed group around it, itself included; null when it is open all the way up. */
function outermostClosed(tree: FoldTree, open: ReadonlySet<number>): (Group | null)[] {
  const result = new Array<Group | null>(tree.groups.length).fill(null);
  const visit = (group: Group, closed: Group | null): void => {
    const own = closed ?? (open.has(group.id) ? null : group);
    result[group.id] = own;
    for (const child of group.groups) visit(child, own);
  };
  visit(tree.root, null);
  return result;
}

function nodeItem(graph: Graph, node: number): Item {
  const box = graph.kinds[node] === CONSTANT ? SMALL : NODE;
  return { key: `n${node}`, node, group: null, box };
}

function wiresBetween(graph: Graph, items: readonly Item[], seenIn: Int32Array, vertical: boolean): Wire[] {
  const bundles = new Map<number, number[]>();
  for (let edge = 0; edge < graph.from.length; edge++) {
    const [from, to] = [seenIn[graph.from[edge]], seenIn[graph.to[edge]]];
    if (from === to) continue;
    // Between two nodes every occurrence is a wire of its own.
    const single = items[from].node !== null && items[to].node !== null;
    const key = single ? -1 - edge : from * items.length + to;
    const bundle = bundles.get(key);
    if (bundle === undefined) bundles.set(key, [edge]);
    else bundle.push(edge);
  }
  return [...bundles.values()].map((edges) => {
    const [from, to] = [seenIn[graph.from[edges[0]]], seenIn[graph.to[edges[0]]]];
    return { edges, from, to, fromPort: fromPort(graph, items[from], edges[0]), toPort: toPort(graph, items[to], edges[0], vertical) };
  });
}

/** Operands arrive one under the other, in the order of their slots. */
function toPort(graph: Graph, item: Item, edge: number, vertical: boolean): number {
  if (item.node === null) return 0;
  const count = graph.first[item.node + 1] - graph.first[item.node];
  const room = Math.min(vertical ? 48 : 22, ((vertical ? item.box.width : item.box.height) - 16) / Math.max(1, count - 1));
  return (graph.slots[edge] - (count - 1) / 2) * room;
}

/** Two edges from one node to another start a little apart. */
function fromPort(graph: Graph, item: Item, edge: number): number {
  if (item.node === null) return 0;
  const twins = graph.useEdges(item.node).filter((other) => graph.to[other] === graph.to[edge]);
  return twins.length < 2 ? 0 : (twins.indexOf(edge) - (twins.length - 1) / 2) * Math.min(14, 44 / twins.length);
}

/** Whether an item shows an operation or a leaf, that is, something with a gradient. */
export function isVariable(graph: Graph, item: Item): boolean {
  return item.node === null || graph.kinds[item.node] !== CONSTANT;
}

export function isOperation(graph: Graph, item: Item): boolean {
  return item.node !== null && graph.kinds[item.node] === OPERATION;
}
