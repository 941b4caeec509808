import { type Band, bandsOf, barAt, draw, heightOf, type Picture, type Theme } from './draw.ts';
import { type Entry, outcomeText } from './entry.ts';
import { TimelineModel } from './model.ts';
import { around, durationText, following, moved, spanOf, towards, type View, zoomed } from './view.ts';

/** What the page of a timeline does with it. */
export interface TimelineOptions {
  /** Called with the number of a request that was clicked; undefined for a click beside all of them. */
  readonly onSelect?: (number: number | undefined) => void;
  /** Called when the timeline begins or stops to follow. */
  readonly onFollow?: (follows: boolean) => void;
}

const WIDE_GUTTER = 132;
const NARROW_GUTTER = 92;

/** A timeline of requests on a canvas: it follows them, or shows what the user has moved it to. */
export class Timeline {
  readonly model = new TimelineModel();
  readonly #canvas: HTMLCanvasElement;
  readonly #tooltip: HTMLElement;
  readonly #options: TimelineOptions;
  readonly #resized: ResizeObserver;
  readonly #stop = new AbortController();
  #theme: Theme;
  #view: View = { start: 0, end: 1 };
  #follows = true;
  #selected: number | undefined;
  #hovered: number | undefined;
  #frame = 0;
  #drag: { x: number; readonly from: number; hasMoved: boolean } | undefined;

  /** `holder` gets a canvas of its width; its style sheet has the colours. */
  constructor(holder: HTMLElement, options: TimelineOptions = {}) {
    this.#options = options;
    this.#canvas = document.createElement('canvas');
    this.#canvas.tabIndex = 0;
    this.#canvas.setAttribute('role', 'img');
    this.#tooltip = document.createElement('div');
    this.#tooltip.className = 'timeline-tooltip';
    this.#tooltip.setAttribute('aria-hidden', 'true');
    holder.append(this.#canvas, this.#tooltip);
    this.#theme = themeOf(holder);
    this.#resized = new ResizeObserver(() => this.#draw());
    this.#resized.observe(holder);
    const { signal } = this.#stop;
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', () => this.refresh(), { signal });
    this.#canvas.addEventListener('wheel', (event) => this.#onWheel(event), { signal, passive: false });
    this.#canvas.addEventListener('pointerdown', (event) => this.#onDown(event), { signal });
    this.#canvas.addEventListener('pointermove', (event) => this.#onMove(event), { signal });
    this.#canvas.addEventListener('pointerup', (event) => this.#onUp(event), { signal });
    // The browser has taken the pointer for something else, such as scrolling.
    this.#canvas.addEventListener('pointercancel', () => (this.#drag = undefined), { signal });
    this.#canvas.addEventListener('pointerleave', () => this.#hover(undefined), { signal });
    this.#canvas.addEventListener('keydown', (event) => this.#onKey(event), { signal });
  }

  /** Whether it moves with the requests. */
  get follows(): boolean {
    return this.#follows;
  }

  set follows(follows: boolean) {
    if (this.#follows === follows) return;
    this.#follows = follows;
    this.#options.onFollow?.(follows);
    this.#draw();
  }

  /** The part of time that is shown. Setting it ends following. */
  get view(): View {
    return this.#view;
  }

  set view(view: View) {
    this.follows = false;
    this.#view = view;
    this.#draw();
  }

  put(entry: Entry): void {
    const isNew = this.model.find(entry.number) === undefined;
    this.model.put(entry);
    // It was selected before it was known.
    if (isNew && entry.number === this.#selected) this.#show(entry.startedAt);
    this.#draw();
  }

  /** Forgets all requests, and follows the next ones. */
  clear(): void {
    this.model.clear();
    this.#view = { start: 0, end: 1 };
    this.follows = true;
    this.#draw();
  }

  /** Has only these requests from now on, at the same time. */
  replace(entries: readonly Entry[]): void {
    this.model.clear();
    for (const entry of entries) this.model.put(entry);
    this.#draw();
  }

  /** Frames a request, and moves to it if it is not shown. */
  select(number: number | undefined): void {
    if (number === this.#selected) return;
    this.#selected = number;
    const { entry } = number === undefined ? {} : (this.model.find(number) ?? {});
    if (entry !== undefined) this.#show(entry.startedAt);
    this.#draw();
  }

  /** Moves to a time that is not shown, and then no longer follows. */
  #show(at: number): void {
    const { start, end } = this.#follows
      ? following(this.model.lastGroup, machineTime(), this.model.isRunning)
      : this.#view;
    if (at >= start && at <= end) return;
    this.follows = false;
    this.#view = moved({ start, end }, at - (start + end) / 2);
  }

  /** Shows less time with a factor below 1, more with one above. */
  zoom(factor: number): void {
    this.follows = false;
    this.#view = zoomed(this.#view, factor, (this.#view.start + this.#view.end) / 2);
    this.#draw();
  }

  /** Shows all requests. */
  fit(): void {
    this.follows = false;
    this.#view = around(this.model.extent);
    this.#draw();
  }

  /** Reads the colours again. */
  refresh(): void {
    this.#theme = themeOf(this.#canvas);
    this.#draw();
  }

  destroy(): void {
    cancelAnimationFrame(this.#frame);
    this.#stop.abort();
    this.#resized.disconnect();
    this.#canvas.remove();
    this.#tooltip.remove();
  }

  /** Draws with the next frame, however often it is called before. */
  #draw(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#paint();
    });
  }

  #paint(): void {
    const { model } = this;
    const now = machineTime();
    if (this.#follows && model.size > 0) {
      const target = following(model.lastGroup, now, model.isRunning);
      const isNear = this.#view.end > target.start && this.#view.start < target.end;
      const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
      this.#view = isNear && !isCalm ? towards(this.#view, target, 0.25) : target;
      const isBusy = model.isRunning || now - model.lastGroup.end < 2_000;
      if (isBusy || this.#view !== target) this.#draw();
    } else if (model.isRunning) {
      this.#draw();
    }
    const picture = this.#picture(now);
    const height = heightOf(picture.bands);
    const ratio = globalThis.devicePixelRatio || 1;
    const [pixelsWide, pixelsHigh] = [Math.round(picture.width * ratio), Math.round(height * ratio)];
    if (this.#canvas.width !== pixelsWide || this.#canvas.height !== pixelsHigh) {
      this.#canvas.width = pixelsWide;
      this.#canvas.height = pixelsHigh;
      this.#canvas.style.height = `${height}px`;
    }
    picture.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw(picture);
    this.#canvas.setAttribute('aria-label', summary(picture.bands));
  }

  #picture(now: number): Picture {
    const width = this.#canvas.parentElement?.clientWidth ?? 0;
    return {
      context: this.#canvas.getContext('2d') as CanvasRenderingContext2D,
      width,
      gutter: width < 560 ? NARROW_GUTTER : WIDE_GUTTER,
      bands: bandsOf(this.model.lanes),
      retries: this.model.retries,
      view: this.#view,
      now,
      theme: this.#theme,
      selected: this.#selected,
      hovered: this.#hovered,
    };
  }

  #timeAt(x: number): number {
    const { gutter, width } = this.#picture(0);
    return this.#view.start + ((x - gutter) / (width - gutter)) * spanOf(this.#view);
  }

  #onWheel(event: WheelEvent): void {
    const isZoom = event.ctrlKey || event.metaKey;
    // A wheel scrolls the page, and with a key it zooms. Sideways it moves in time.
    if (!isZoom && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
    event.preventDefault();
    this.follows = false;
    const { gutter, width } = this.#picture(0);
    this.#view = isZoom
      ? zoomed(this.#view, Math.exp(event.deltaY / 300), this.#timeAt(event.offsetX))
      : moved(this.#view, (event.deltaX / (width - gutter)) * spanOf(this.#view));
    this.#draw();
  }

  #onDown(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.#canvas.setPointerCapture(event.pointerId);
    this.#drag = { x: event.offsetX, from: event.offsetX, hasMoved: false };
  }

  #onMove(event: PointerEvent): void {
    if (this.#drag === undefined) {
      this.#hover(event);
      return;
    }
    if (Math.abs(event.offsetX - this.#drag.from) > 4) this.#drag.hasMoved = true;
    if (!this.#drag.hasMoved) return;
    this.#hover(undefined);
    this.follows = false;
    const { gutter, width } = this.#picture(0);
    this.#view = moved(this.#view, ((this.#drag.x - event.offsetX) / (width - gutter)) * spanOf(this.#view));
    this.#drag.x = event.offsetX;
    this.#draw();
  }

  #onUp(event: PointerEvent): void {
    const isClick = this.#drag?.hasMoved === false;
    this.#drag = undefined;
    if (!isClick) return;
    const now = machineTime();
    const bar = barAt(this.#picture(now), event.offsetX, event.offsetY);
    this.#selected = bar?.entry.number;
    this.#options.onSelect?.(this.#selected);
    this.#draw();
  }

  #onKey(event: KeyboardEvent): void {
    const actions: Readonly<Record<string, () => void>> = {
      '+': () => this.zoom(0.6),
      '=': () => this.zoom(0.6),
      '-': () => this.zoom(1.6),
      '0': () => this.fit(),
      f: () => {
        this.follows = !this.#follows;
      },
      ArrowLeft: () => this.#step(-0.2),
      ArrowRight: () => this.#step(0.2),
    };
    const action = actions[event.key];
    if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  }

  #step(share: number): void {
    this.follows = false;
    this.#view = moved(this.#view, share * spanOf(this.#view));
    this.#draw();
  }

  #hover(event: PointerEvent | undefined): void {
    const now = machineTime();
    const bar = event && barAt(this.#picture(now), event.offsetX, event.offsetY);
    this.#canvas.style.cursor = bar === undefined ? 'default' : 'pointer';
    if (bar?.entry.number !== this.#hovered) {
      this.#hovered = bar?.entry.number;
      this.#draw();
    }
    this.#tooltip.hidden = bar === undefined;
    if (bar === undefined || event === undefined) return;
    this.#tooltip.textContent = tooltipText(bar.entry);
    const room = (this.#canvas.parentElement?.clientWidth ?? 0) - this.#tooltip.offsetWidth - 8;
    this.#tooltip.style.left = `${Math.max(8, Math.min(room, event.offsetX + 12))}px`;
    this.#tooltip.style.top = `${event.offsetY + 18}px`;
  }
}

/** As `startedAt` of a request in the same machine. */
function machineTime(): number {
  return performance.timeOrigin + performance.now();
}

function tooltipText(entry: Entry): string {
  const { number, method, url, durationMs, fault } = entry;
  const parts = [
    `#${number}`,
    `${method} ${url.replace(/^\/api\/public\/v1/, '')}`,
    outcomeText(entry),
    ...(durationMs === null ? [] : [durationText(durationMs)]),
    ...(fault === null ? [] : [`fault ${fault}`]),
  ];
  return parts.join(' · ');
}

function summary(bands: readonly Band[]): string {
  const lanes = bands.map(({ lane: { name, bars } }) => `${bars.length} of key ${name}`);
  return lanes.length === 0 ? 'Timeline without requests' : `Timeline of requests: ${lanes.join(', ')}`;
}

function themeOf(element: HTMLElement): Theme {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(`--timeline-${name}`).trim();
  return {
    running: colour('running'),
    success: colour('success'),
    redirect: colour('redirect'),
    rejected: colour('rejected'),
    failed: colour('failed'),
    lost: colour('lost'),
    text: colour('text'),
    faint: colour('faint'),
    line: colour('line'),
    band: colour('band'),
    surface: colour('surface'),
    accent: colour('accent'),
    font: style.fontFamily,
  };
}
