/** The part of time that is shown, in ms since the epoch. */
export interface View {
  readonly start: number;
  readonly end: number;
}

const LEAST_SPAN_MS = 20;
const MOST_SPAN_MS = 86_400_000;
/** While requests arrive, at most so much is shown. */
const FOLLOWED_MS = 30_000;
const IDLE_AFTER_MS = 1_500;

export const spanOf = ({ start, end }: View) => end - start;

/** Shows more or less around a time that stays where it is. */
export function zoomed({ start, end }: View, factor: number, around: number): View {
  const span = Math.min(MOST_SPAN_MS, Math.max(LEAST_SPAN_MS, (end - start) * factor));
  const share = end === start ? 0.5 : (around - start) / (end - start);
  return { start: around - share * span, end: around + (1 - share) * span };
}

export function moved({ start, end }: View, ms: number): View {
  return { start: start + ms, end: end + ms };
}

/** Everything in an interval, with room at both ends. */
export function around({ start, end }: View): View {
  const span = Math.max(LEAST_SPAN_MS, end - start);
  return { start: start - 0.03 * span, end: start + 1.08 * span };
}

/** What to show of requests that belong together: all of them, or their last part while there are more to come. */
export function following(group: View, now: number, isRunning: boolean): View {
  const isBusy = isRunning || now - group.end < IDLE_AFTER_MS;
  if (!isBusy) return around({ start: Math.max(group.start, group.end - 4 * FOLLOWED_MS), end: group.end });
  // A wait may end long after the last request, which is still shown.
  const end = Math.min(Math.max(now, group.end), now + FOLLOWED_MS);
  return around({ start: Math.max(group.start, Math.min(now, end) - FOLLOWED_MS), end });
}

/** A step of a movement to another view. */
export function towards(from: View, to: View, share: number): View {
  const near = spanOf(to) / 2_000;
  const start = from.start + (to.start - from.start) * share;
  const end = from.end + (to.end - from.end) * share;
  const isThere = Math.abs(start - to.start) < near && Math.abs(end - to.end) < near;
  return isThere ? to : { start, end };
}

/** Times at which the axis has a mark, and how they are written. */
export function ticks(
  { start, end }: View,
  most: number,
): readonly { readonly at: number; readonly text: string }[] {
  const step = stepOf(end - start, most);
  const first = Math.ceil(start / step) * step;
  const marks = [];
  for (let at = first; at <= end; at += step) marks.push({ at, text: clockText(at, step) });
  return marks;
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5,
];

/** The distance of marks: as many as fit, and at least two if there is a shorter one. */
function stepOf(span: number, most: number): number {
  const fits = STEPS.findIndex((step) => span / step <= most);
  if (fits < 0) return Math.ceil(span / most / 36e5) * 36e5;
  const step = STEPS[fits] ?? 1;
  return span / step < 2 ? (STEPS[fits - 1] ?? step) : step;
}

/** The time of day, as precise as the distance of the marks. */
function clockText(at: number, step: number): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, '0');
  const minutes = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (step >= 60_000) return minutes;
  const seconds = `${minutes}:${two(date.getSeconds())}`;
  return step >= 1000 ? seconds : `${seconds}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** A duration, as short as it can be read. */
export function durationText(ms: number): string {
  if (ms < 9.95) return `${ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(ms < 9_995 ? 2 : 1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
