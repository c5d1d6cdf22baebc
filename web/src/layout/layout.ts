/**
 * A layered layout from left to right: ranks, an order within each rank that has few crossings, then coordinates.
 *
 * Coordinates are the least-squares solution for "be level with your neighbours, keep your distance": for each rank
 * a weighted isotonic regression. It takes a few milliseconds for 150 boxes, so that no worker is needed.
 */

export interface Box {
  readonly width: number;
  readonly height: number;
}

/** From box to box; `port` moves the end of the edge up or down from the middle of its box. */
export interface Link {
  readonly from: number;
  readonly to: number;
  readonly fromPort: number;
  readonly toPort: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  /** The centre of each box. */
  readonly centres: readonly Point[];
  /** For each link the points it goes through, all of them with a level tangent. */
  readonly routes: readonly (readonly Point[])[];
}

export interface Spacing {
  readonly rank: number;
  readonly box: number;
  readonly edge: number;
}

/** Sweeps over the ranks: more are of no use on small graphs and too slow on large ones. */
const sweeps = (count: number): number => (count < 400 ? 24 : count < 3000 ? 8 : 3);

/** A box, or the place where a long edge passes a rank. */
interface Spot {
  readonly height: number;
  readonly rank: number;
  readonly dummy: boolean;
  readonly before: Tie[];
  readonly after: Tie[];
  place: number;
  y: number;
}

/** A neighbour; `own` and `other` say where on the two sides the edge ends. */
interface Tie {
  readonly spot: Spot;
  readonly own: number;
  readonly other: number;
  readonly weight: number;
}

/** More places than this for long edges to pass are not made: those edges then go straight. */
const MOST_DUMMIES = 40_000;

/** Lay out boxes whose links never form a cycle. */
export function layOut(boxes: readonly Box[], links: readonly Link[], spacing: Spacing): Layout {
  const ranks = rankOf(boxes.length, links);
  const { rows, spots, chains } = withDummies(boxes, links, ranks);
  reduceCrossings(rows, spots.length);
  assignHeights(rows, spacing);
  return placed(boxes, links, rows, spots, chains, spacing);
}

/** Each box one rank after the last of its operands; what has no operands right before its first use. */
function rankOf(count: number, links: readonly Link[]): Int32Array {
  const rank = new Int32Array(count);
  const after: number[][] = Array.from({ length: count }, () => []);
  const waiting = new Int32Array(count);
  for (const { from, to } of links) {
    after[from].push(to);
    waiting[to]++;
  }
  const inputs = Array.from({ length: count }, (_, box) => box).filter((box) => waiting[box] === 0);
  const ready = [...inputs];
  for (let k = 0; k < ready.length; k++) {
    for (const to of after[ready[k]]) {
      rank[to] = Math.max(rank[to], rank[ready[k]] + 1);
      if (--waiting[to] === 0) ready.push(to);
    }
  }
  for (const input of inputs) {
    if (after[input].length) rank[input] = Math.min(...after[input].map((to) => rank[to])) - 1;
  }
  return rank;
}

function withDummies(
  boxes: readonly Box[],
  links: readonly Link[],
  ranks: Int32Array,
): { rows: Spot[][]; spots: Spot[]; chains: Spot[][] } {
  const rows: Spot[][] = Array.from({ length: ranks.reduce((most, rank) => Math.max(most, rank), 0) + 1 }, () => []);
  const add = (height: number, rank: number, dummy: boolean): Spot => {
    const spot: Spot = { height, rank, dummy, before: [], after: [], place: rows[rank].length, y: 0 };
    rows[rank].push(spot);
    return spot;
  };
  const spots = boxes.map((box, k) => add(box.height, ranks[k], false));
  const passing = links.reduce((sum, link) => sum + ranks[link.to] - ranks[link.from] - 1, 0);
  const chains = links.map((link) => {
    const chain = [spots[link.from]];
    for (let rank = ranks[link.from] + 1; passing <= MOST_DUMMIES && rank < ranks[link.to]; rank++) chain.push(add(0, rank, true));
    chain.push(spots[link.to]);
    chain.forEach((spot, k) => {
      if (k === 0) return;
      const left = chain[k - 1];
      const own = left.dummy ? 0 : link.fromPort;
      const other = spot.dummy ? 0 : link.toPort;
      const weight = left.dummy && spot.dummy ? 8 : left.dummy || spot.dummy ? 2 : 1;
      left.after.push({ spot, own, other, weight });
      spot.before.push({ spot: left, own: other, other: own, weight });
    });
    return chain;
  });
  return { rows, spots, chains };
}

// --- order ------------------------------------------------------------------------------------------

function reduceCrossings(rows: Spot[][], count: number): void {
  let best = crossingsOf(rows);
  let kept = rows.map((row) => [...row]);
  for (let sweep = 0; sweep < sweeps(count) && best > 0; sweep++) {
    const forward = sweep % 2 === 0;
    const order = forward ? rows.slice(1) : rows.slice(0, -1).reverse();
    for (const row of order) sortRow(row, forward ? "before" : "after", sweep % 4 > 1);
    if (count < 400) for (const row of rows) transpose(row);
    const crossings = crossingsOf(rows);
    if (crossings < best) {
      best = crossings;
      kept = rows.map((row) => [...row]);
    }
  }
  kept.forEach((row, rank) => {
    rows[rank] = row;
    renumber(row);
  });
}

function renumber(row: Spot[]): void {
  row.forEach((spot, place) => {
    spot.place = place;
  });
}

/** Sort a row by the mean place of its neighbours on one side; what has none stays where it is. */
function sortRow(row: Spot[], side: "before" | "after", last: boolean): void {
  const keyed = row.map((spot) => {
    const ties = spot[side];
    const sum = ties.reduce((total, tie) => total + tie.spot.place + tie.other / 1000, 0);
    return { spot, key: ties.length ? sum / ties.length : spot.place };
  });
  keyed.sort((a, b) => a.key - b.key || (last ? b.spot.place - a.spot.place : a.spot.place - b.spot.place));
  keyed.forEach(({ spot }, place) => {
    row[place] = spot;
    spot.place = place;
  });
}

/** Swap neighbours wherever that undoes crossings. */
function transpose(row: Spot[]): void {
  for (let k = 0; k + 1 < row.length; k++) {
    const [a, b] = [row[k], row[k + 1]];
    const gain = pairCrossings(a.before, b.before) + pairCrossings(a.after, b.after);
    const cost = pairCrossings(b.before, a.before) + pairCrossings(b.after, a.after);
    if (cost >= gain) continue;
    row[k] = b;
    row[k + 1] = a;
    renumber(row);
  }
}

function position(tie: Tie): number {
  return tie.spot.place + tie.other / 1000;
}

function pairCrossings(upper: readonly Tie[], lower: readonly Tie[]): number {
  let crossings = 0;
  for (const a of upper) for (const b of lower) if (position(a) > position(b)) crossings++;
  return crossings;
}

function crossingsOf(rows: readonly Spot[][]): number {
  let crossings = 0;
  for (const row of rows) {
    const ends = row.flatMap((spot) => [...spot.after].sort((a, b) => a.own - b.own).map(position));
    crossings += inversions(ends);
  }
  return crossings;
}

/** How many pairs stand in the wrong order, by merging. */
function inversions(values: number[]): number {
  if (values.length < 2) return 0;
  const half = values.length >> 1;
  const [left, right] = [values.slice(0, half), values.slice(half)];
  let count = inversions(left) + inversions(right);
  for (let i = 0, j = 0, k = 0; k < values.length; k++) {
    if (j >= right.length || (i < left.length && left[i] <= right[j])) values[k] = left[i++];
    else {
      count += left.length - i;
      values[k] = right[j++];
    }
  }
  return count;
}

// --- coordinates ------------------------------------------------------------------------------------

function assignHeights(rows: readonly Spot[][], spacing: Spacing): void {
  for (const row of rows) {
    let y = 0;
    row.forEach((spot, k) => {
      if (k) y += distance(row[k - 1], spot, spacing);
      spot.y = y;
    });
    const middle = y / 2;
    for (const spot of row) spot.y -= middle;
  }
  const rounds = rows.length > 200 ? 4 : 12;
  for (let round = 0; round < rounds; round++) {
    const sides = round >= rounds - 2 ? (["both", "both"] as const) : (["before", "after"] as const);
    for (const row of rows) align(row, sides[0], spacing);
    for (const row of [...rows].reverse()) align(row, sides[1], spacing);
  }
}

function distance(a: Spot, b: Spot, spacing: Spacing): number {
  const gap = a.dummy && b.dummy ? spacing.edge : a.dummy || b.dummy ? (spacing.edge + spacing.box) / 2 : spacing.box;
  return (a.height + b.height) / 2 + gap;
}

/** Move a row's spots as near to level with their neighbours as their order and distances allow. */
function align(row: Spot[], side: "before" | "after" | "both", spacing: Spacing): void {
  let shift = 0;
  const blocks: { sum: number; weight: number; spots: Spot[]; shifts: number[] }[] = [];
  row.forEach((spot, k) => {
    if (k) shift += distance(row[k - 1], spot, spacing);
    const ties = side === "before" ? spot.before : side === "after" ? spot.after : [...spot.before, ...spot.after];
    let weight = 0;
    let sum = 0;
    for (const tie of ties) {
      weight += tie.weight;
      sum += tie.weight * (tie.spot.y + tie.other - tie.own);
    }
    if (weight === 0) [weight, sum] = [0.05, 0.05 * spot.y];
    blocks.push({ sum: sum - weight * shift, weight, spots: [spot], shifts: [shift] });
    while (blocks.length > 1) {
      const [upper, lower] = blocks.slice(-2);
      if (upper.sum / upper.weight <= lower.sum / lower.weight) break;
      upper.sum += lower.sum;
      upper.weight += lower.weight;
      upper.spots.push(...lower.spots);
      upper.shifts.push(...lower.shifts);
      blocks.pop();
    }
  });
  for (const block of blocks) {
    const level = block.sum / block.weight;
    block.spots.forEach((spot, k) => {
      spot.y = level + block.shifts[k];
    });
  }
}

function placed(
  boxes: readonly Box[],
  links: readonly Link[],
  rows: readonly Spot[][],
  spots: readonly Spot[],
  chains: readonly Spot[][],
  spacing: Spacing,
): Layout {
  const widths = rows.map(() => 0);
  spots.forEach((spot, k) => {
    widths[spot.rank] = Math.max(widths[spot.rank], boxes[k].width);
  });
  let left = 0;
  const middles = widths.map((width) => {
    const middle = left + width / 2;
    left += width + spacing.rank;
    return middle;
  });
  const filled = rows.filter((row) => row.length > 0);
  const top = filled.reduce((least, [spot]) => Math.min(least, spot.y - spot.height / 2), filled.length ? Infinity : 0);
  const bottom = filled.reduce((most, row) => Math.max(most, row[row.length - 1].y + row[row.length - 1].height / 2), filled.length ? -Infinity : 0);
  const routes = chains.map((chain, k) => {
    const { from, to, fromPort, toPort } = links[k];
    const points: Point[] = [];
    chain.forEach((spot, index) => {
      const x = middles[spot.rank];
      const y = spot.y - top;
      if (index === 0) points.push({ x: x + boxes[from].width / 2, y: y + fromPort });
      else if (index === chain.length - 1) points.push({ x: x - boxes[to].width / 2, y: y + toPort });
      else points.push({ x: x - widths[spot.rank] / 2, y }, { x: x + widths[spot.rank] / 2, y });
    });
    return points;
  });
  return {
    width: Math.max(0, left - spacing.rank),
    height: bottom - top,
    centres: spots.map((spot) => ({ x: middles[spot.rank], y: spot.y - top })),
    routes,
  };
}

/** The same layout from top to bottom. */
export function turned({ width, height, centres, routes }: Layout): Layout {
  const turn = ({ x, y }: Point): Point => ({ x: y, y: x });
  return { width: height, height: width, centres: centres.map(turn), routes: routes.map((route) => route.map(turn)) };
}

/** An SVG path through points, along the layout's direction at each of them. */
export function pathOf(points: readonly Point[], vertical: boolean): string {
  const number = (x: number): string => String(Math.round(x * 10) / 10);
  return points
    .map((point, k) => {
      if (k === 0) return `M${number(point.x)},${number(point.y)}`;
      if (vertical) {
        const half = number((points[k - 1].y + point.y) / 2);
        return `C${number(points[k - 1].x)},${half} ${number(point.x)},${half} ${number(point.x)},${number(point.y)}`;
      }
      const middle = number((points[k - 1].x + point.x) / 2);
      return `C${middle},${number(points[k - 1].y)} ${middle},${number(point.y)} ${number(point.x)},${number(point.y)}`;
    })
    .join("");
}
