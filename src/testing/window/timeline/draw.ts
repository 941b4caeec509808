import { type Entry, endOf, type Outcome, outcomeOf, waitAfter } from './entry.ts';
import { type Bar, type Lane, NO_KEY } from './model.ts';
import { durationText, spanOf, ticks, type View } from './view.ts';

const BAR = 13;
const ROW = BAR + 5;
const QUOTA = 20;
const LANE_TOP = 12;
const LANE_BOTTOM = 12;
const AXIS = 24;
const LABEL_GAP = 8;
/** A short request is still seen and clicked. */
const LEAST_WIDTH = 3;

/** Colours and fonts, from the page's style sheet. */
export interface Theme extends Readonly<Record<Outcome, string>> {
  readonly text: string;
  readonly faint: string;
  readonly line: string;
  readonly band: string;
  readonly surface: string;
  readonly accent: string;
  readonly font: string;
}

/** Where a lane is drawn. */
export interface Band {
  readonly lane: Lane;
  readonly top: number;
  readonly height: number;
  /** Where its first row begins, below the quota. */
  readonly rows: number;
  readonly hasQuota: boolean;
}

export function bandsOf(lanes: readonly Lane[]): readonly Band[] {
  let top = 0;
  return lanes.map((lane) => {
    const hasQuota = lane.bars.at(-1)?.entry.quota !== null;
    const rows = top + LANE_TOP + (hasQuota ? QUOTA : 0);
    const height = rows - top + Math.max(1, lane.rows) * ROW + LANE_BOTTOM;
    const band = { lane, top, height, rows, hasQuota };
    top += height;
    return band;
  });
}

export function heightOf(bands: readonly Band[]): number {
  return bands.reduce((sum, { height }) => sum + height, AXIS);
}

/** A picture of some time. */
export interface Picture {
  readonly context: CanvasRenderingContext2D;
  readonly width: number;
  /** The width of the names of the lanes. */
  readonly gutter: number;
  readonly bands: readonly Band[];
  readonly retries: Iterable<readonly Bar[]>;
  readonly view: View;
  readonly now: number;
  readonly theme: Theme;
  readonly selected: number | undefined;
  readonly hovered: number | undefined;
}

/** Where a time is. */
export function xOf(at: number, { view, gutter, width }: Pick<Picture, 'view' | 'gutter' | 'width'>): number {
  return gutter + ((at - view.start) / spanOf(view)) * (width - gutter);
}

export function draw(picture: Picture): void {
  const { context, width, gutter, bands, theme } = picture;
  const bottom = heightOf(bands) - AXIS;
  context.clearRect(0, 0, width, bottom + AXIS);
  drawAxis(picture, bottom);
  for (const [index, band] of bands.entries()) {
    if (index > 0) {
      context.fillStyle = theme.line;
      context.fillRect(0, band.top, width, 1);
    }
    context.save();
    context.beginPath();
    context.rect(gutter, band.top, width - gutter, band.height);
    context.clip();
    drawLane(picture, band);
    context.restore();
    drawName(picture, band);
  }
  context.save();
  context.beginPath();
  context.rect(gutter, 0, width - gutter, bottom);
  context.clip();
  drawRetries(picture);
  context.restore();
}

function drawAxis(picture: Picture, bottom: number): void {
  const { context, width, gutter, view, theme } = picture;
  context.font = `11px ${theme.font}`;
  context.textBaseline = 'middle';
  context.textAlign = 'center';
  let free = gutter;
  for (const { at, text } of ticks(view, Math.max(2, (width - gutter) / 110))) {
    const x = Math.round(xOf(at, picture));
    if (x < gutter) continue;
    context.fillStyle = theme.line;
    context.fillRect(x, 0, 1, bottom + 4);
    context.fillStyle = theme.faint;
    const room = context.measureText(text).width / 2;
    if (x - room <= free || x + room >= width) continue;
    context.fillText(text, x, bottom + AXIS / 2 + 2);
    free = x + room + LABEL_GAP;
  }
  context.fillStyle = theme.line;
  context.fillRect(0, bottom, width, 1);
}

function drawName({ context, theme, gutter }: Picture, { lane, top, hasQuota, rows }: Band): void {
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  context.fillStyle = theme.text;
  context.font = `600 12px ${theme.font}`;
  context.fillText(
    fitted(context, lane.name, gutter - 20),
    12,
    hasQuota ? top + LANE_TOP + 5 : rows + BAR / 2,
  );
  const { quota } = lane.bars.at(-1)?.entry ?? {};
  if (!quota) return;
  context.fillStyle = theme.faint;
  context.font = `11px ${theme.font}`;
  const left = `${quota.remaining.toLocaleString('en')} of ${quota.limit.toLocaleString('en')}`;
  context.fillText(fitted(context, left, gutter - 20), 12, top + LANE_TOP + 21);
}

function fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
  if (context.measureText(text).width <= room) return text;
  let end = text.length;
  while (end > 1 && context.measureText(`${text.slice(0, end)}…`).width > room) end -= 1;
  return `${text.slice(0, end)}…`;
}

/** The places of the bars of a lane that begin in a view. */
function rangeOf({ bars }: Lane, { start, end }: View): readonly [first: number, after: number] {
  const firstAfter = (at: number) => {
    let [low, high] = [0, bars.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((bars[middle]?.entry.startedAt ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return [firstAfter(start), firstAfter(end)];
}

/** The bars of a lane that a view shows. A long one may begin before it, so some more are looked at. */
function visibleBars(lane: Lane, view: View): readonly Bar[] {
  const [first, after] = rangeOf(lane, view);
  const earlier = lane.bars
    .slice(Math.max(0, first - 200), first)
    .filter(({ entry }) => endOf(entry, Infinity) + waitAfter(entry) >= view.start);
  return [...earlier, ...lane.bars.slice(first, after)];
}

function drawLane(picture: Picture, band: Band): void {
  const { context, theme, now, view } = picture;
  const bars = visibleBars(band.lane, view);
  if (band.hasQuota) drawQuota(picture, band);
  for (const [index, { entry }] of bars.entries()) drawWait(picture, band, entry, bars[index + 1]?.entry);

  // One path for each colour. What would be drawn on the same pixels is left out.
  const paths = new Map<Outcome, Path2D>();
  const last = new Map<string, number>();
  for (const { entry, row } of bars) {
    const outcome = outcomeOf(entry);
    const left = xOf(entry.startedAt, picture);
    const right = Math.max(left + LEAST_WIDTH, xOf(endOf(entry, now), picture));
    const place = `${row}${outcome}`;
    if (right - (last.get(place) ?? -Infinity) < 0.7) continue;
    last.set(place, right);
    const path = paths.get(outcome) ?? new Path2D();
    paths.set(outcome, path);
    const y = band.rows + row * ROW;
    const from = Math.max(left, picture.gutter - 8);
    path.roundRect(from, y, Math.min(right, picture.width + 8) - from, BAR, Math.min(3, (right - left) / 2));
  }
  for (const [outcome, path] of paths) {
    context.fillStyle = theme[outcome];
    if (outcome === 'lost') {
      context.globalAlpha = 0.22;
      context.fill(path);
      context.globalAlpha = 1;
      context.strokeStyle = theme.lost;
      context.lineWidth = 1.25;
      context.setLineDash([3, 2]);
      context.stroke(path);
      context.setLineDash([]);
    } else {
      context.globalAlpha = outcome === 'running' ? 0.55 : 1;
      context.fill(path);
      context.globalAlpha = 1;
    }
  }
  for (const { entry, row } of bars) drawMarks(picture, band, { entry, row });
}

/** A diamond for a fault, a cross for a response that did not arrive, and a frame for what is selected. */
function drawMarks(picture: Picture, band: Band, { entry, row }: Bar): void {
  const { context, theme, now, selected, hovered } = picture;
  const isFramed = entry.number === selected || entry.number === hovered;
  if (entry.fault === null && !isFramed) return;
  const left = xOf(entry.startedAt, picture);
  const right = Math.max(left + LEAST_WIDTH, xOf(endOf(entry, now), picture));
  const y = band.rows + row * ROW;
  if (entry.fault !== null) {
    const x = Math.max(left, picture.gutter) + 1;
    context.fillStyle = theme.accent;
    context.strokeStyle = theme.surface;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x, y - 4);
    context.lineTo(x + 4, y);
    context.lineTo(x, y + 4);
    context.lineTo(x - 4, y);
    context.closePath();
    context.stroke();
    context.fill();
  }
  if (!isFramed) return;
  context.strokeStyle = theme.text;
  context.lineWidth = entry.number === selected ? 2 : 1;
  context.beginPath();
  context.roundRect(left - 2, y - 2, right - left + 4, BAR + 4, 4);
  context.stroke();
}

/** The wait that a 429 asks for, until the key is used again. */
function drawWait(picture: Picture, band: Band, entry: Entry, next: Entry | undefined): void {
  const wait = waitAfter(entry);
  if (wait === 0) return;
  const { context, theme, now, gutter, width } = picture;
  const start = endOf(entry, now);
  // Requests that were sent before may still arrive.
  const isUsed = next !== undefined && next.startedAt > start + 50;
  const end = Math.min(start + wait, isUsed ? next.startedAt : Infinity);
  const [left, right] = [Math.max(gutter, xOf(start, picture)), Math.min(width, xOf(end, picture))];
  if (right - left < 2) return;
  const top = band.rows - 1;
  const height = Math.max(1, band.lane.rows) * ROW;
  context.save();
  context.beginPath();
  context.rect(left, top, right - left, height);
  context.clip();
  context.strokeStyle = theme.rejected;
  context.globalAlpha = 0.45;
  context.lineWidth = 1;
  context.beginPath();
  for (let x = left - height - ((left - height) % 7); x < right; x += 7) {
    context.moveTo(x, top + height);
    context.lineTo(x + height, top);
  }
  context.stroke();
  context.restore();
  const text = `wait ${durationText(end - start)}`;
  context.font = `600 11px ${theme.font}`;
  const room = context.measureText(text).width;
  if (right - left < room + 16) return;
  const middle = (left + right) / 2;
  context.fillStyle = theme.surface;
  context.beginPath();
  context.roundRect(middle - room / 2 - 5, top + height / 2 - 8, room + 10, 16, 4);
  context.fill();
  context.fillStyle = theme.text;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillText(text, middle, top + height / 2 + 0.5);
}

/** What is left of the quota, as steps. */
function drawQuota(picture: Picture, { lane, top }: Band): void {
  const { context, theme, view, gutter, width, now } = picture;
  const [high, low] = [top + LANE_TOP - 4, top + LANE_TOP + QUOTA - 8];
  const [first, after] = rangeOf(lane, view);
  const line = new Path2D();
  let y: number | undefined;
  let startX = gutter;
  let lastX = -Infinity;
  for (const { entry } of lane.bars.slice(Math.max(0, first - 1), after)) {
    if (entry.quota === null) continue;
    const x = Math.max(gutter, xOf(entry.startedAt, picture));
    const next = low - (entry.quota.remaining / entry.quota.limit) * (low - high);
    if (y === undefined) {
      startX = x;
      line.moveTo(x, next);
    } else if (x - lastX >= 0.7 || next !== y) {
      line.lineTo(x, y);
      line.lineTo(x, next);
      lastX = x;
    }
    y = next;
  }
  if (y === undefined) return;
  const endX = Math.min(width, xOf(Math.min(now, view.end), picture));
  line.lineTo(endX, y);
  context.strokeStyle = theme.faint;
  context.lineWidth = 1.25;
  context.stroke(line);
  line.lineTo(endX, low);
  line.lineTo(startX, low);
  context.fillStyle = theme.band;
  context.fill(line);
}

/** A line from each attempt to the next one under the same idempotency key. */
function drawRetries(picture: Picture): void {
  const { context, theme, bands, view, now } = picture;
  const bandOf = new Map(bands.map((band) => [band.lane.name, band]));
  context.strokeStyle = theme.accent;
  context.lineWidth = 1.5;
  for (const attempts of picture.retries) {
    for (const [index, from] of attempts.entries()) {
      const to = attempts[index + 1];
      if (to === undefined || to.entry.startedAt < view.start || from.entry.startedAt > view.end) continue;
      const [a, b] = [bandOf.get(from.entry.key ?? NO_KEY), bandOf.get(to.entry.key ?? NO_KEY)];
      if (a === undefined || b === undefined) continue;
      const [x1, y1] = [xOf(endOf(from.entry, now), picture), a.rows + from.row * ROW + BAR / 2];
      const [x2, y2] = [xOf(to.entry.startedAt, picture), b.rows + to.row * ROW + BAR / 2];
      const bend = Math.min(14, 4 + (x2 - x1) / 8);
      context.beginPath();
      context.moveTo(x1, y1);
      context.bezierCurveTo(x1 + (x2 - x1) / 3, y1 - bend, x1 + ((x2 - x1) * 2) / 3, y2 - bend, x2, y2);
      context.stroke();
      context.fillStyle = theme.accent;
      context.beginPath();
      context.arc(x1, y1, 2.5, 0, 7);
      context.arc(x2, y2, 2.5, 0, 7);
      context.fill();
    }
  }
}

/** The request at a place of the picture; near is enough, because some are narrow. */
export function barAt(
  picture: Pick<Picture, 'view' | 'gutter' | 'width' | 'bands' | 'now'>,
  x: number,
  y: number,
): Bar | undefined {
  const band = picture.bands.find(({ top, height }) => y >= top && y < top + height);
  if (band === undefined || x < picture.gutter) return undefined;
  const distance = ({ entry, row }: Bar) => {
    const [left, right] = [xOf(entry.startedAt, picture), xOf(endOf(entry, picture.now), picture)];
    const top = band.rows + row * ROW;
    const dx = Math.max(left - x, x - Math.max(right, left + LEAST_WIDTH), 0);
    return dx + Math.max(top - y, y - top - BAR, 0);
  };
  let [nearest, least]: [Bar | undefined, number] = [undefined, 6];
  for (const bar of visibleBars(band.lane, picture.view)) {
    const far = distance(bar);
    if (far < least) [nearest, least] = [bar, far];
  }
  return nearest;
}
