import { Window } from 'happy-dom';
import { vi } from 'vitest';
import { Drawing, Path } from './canvas.ts';
import { screenOf } from './screen.ts';
import { ORIGIN, type Server } from './server.ts';

/** Few frames, because each takes time of the test. */
const FRAME_MS = 100;

/** How long a browser waits before it connects again to events. */
const RECONNECT_MS = 3_000;

/** The window of a sandbox in a browser without a picture. Time passes with `later` only. */
export class Page {
  readonly document: Document;
  readonly drawing = new Drawing();
  /** The pointers that the timeline has captured. */
  readonly captured: number[] = [];
  /** What was copied last; undefined if the browser does not allow it. */
  clipboard: string | undefined = '';
  /** The server that responds now: another one after a restart. */
  server: Server;
  readonly #window: Window;
  /** The frames that wait until the tab is shown again; undefined while it is shown. */
  #hiddenFrames: (() => void)[] | undefined;
  #hash: string;
  #giveUp = () => {};
  #events: EventTarget | undefined;
  /** What the page does when the address changes. */
  #listener = () => {};

  private constructor(server: Server, window: Window, hash: string) {
    this.server = server;
    this.#hash = hash;
    this.#window = window;
    this.document = window.document as unknown as Document;
    const state = () => (this.#hiddenFrames === undefined ? 'visible' : 'hidden');
    Object.defineProperty(this.document, 'visibilityState', { get: state });
  }

  static async open(server: Server, hash: string, width = 1_000): Promise<Page> {
    const window = new Window({ url: `${ORIGIN}/_sandbox/` });
    const page = new Page(server, window, hash);
    page.#install(width);
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
      now: Date.parse('2026-01-31T12:00:00Z'),
    });
    // The time of day is that of the machine.
    for (const part of ['Hours', 'Minutes', 'Seconds'] as const)
      vi.spyOn(Date.prototype, `get${part}`).mockImplementation(function (this: Date) {
        return this[`getUTC${part}`]();
      });
    vi.resetModules();
    await import('../../../../../src/testing/window/main.tsx');
    await page.later(1_000);
    return page;
  }

  /** Lets time pass: effects run, frames are drawn, and what was sent has its response. */
  async later(ms = 300): Promise<void> {
    // The streams of a connector take turns of the event loop.
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    await vi.advanceTimersByTimeAsync(ms);
  }

  async close(): Promise<void> {
    vi.useRealTimers();
    vi.unstubAllGlobals();
    await this.#window.happyDOM.close();
  }

  get hash(): string {
    return this.#hash;
  }

  async go(hash: string): Promise<void> {
    this.#navigate(hash);
    await this.later();
  }

  #navigate(hash: string): void {
    const before = this.#hash;
    this.#hash = hash === '' || hash.startsWith('#') ? hash : `#${hash}`;
    if (this.#hash !== before) queueMicrotask(() => this.#listener());
  }

  /** The element that has a text or a label, within the part of the page that a selector names. */
  find(selector: string, text = ''): HTMLElement {
    const found = [...this.document.querySelectorAll(selector)].filter((one) =>
      [one.getAttribute('aria-label'), one.textContent].some((shown) => shown?.includes(text)),
    );
    if (found[0] === undefined)
      throw new Error(
        `There is no ${selector} with ${JSON.stringify(text)} in ${screenOf(this.document).join('\n')}`,
      );
    return found[0] as HTMLElement;
  }

  async click(selector: string, text?: string): Promise<void> {
    this.find(selector, text).click();
    await this.later();
  }

  /** Types into a field, or chooses an option. */
  async fill(label: string, value: string): Promise<void> {
    const field = this.field(label) as HTMLInputElement;
    field.value = value;
    for (const type of ['input', 'change']) this.#dispatch(field, type);
    await this.later();
  }

  field(label: string): Element {
    const named = [...this.document.querySelectorAll('[aria-label]')].find(
      (one) => one.getAttribute('aria-label') === label,
    );
    if (named !== undefined) return named;
    const { htmlFor } = this.find('label', label) as HTMLLabelElement;
    return this.document.getElementById(htmlFor) as Element;
  }

  async submit(selector: string): Promise<void> {
    this.#dispatch(this.find(selector), 'submit');
    await this.later();
  }

  async key(selector: string, key: string): Promise<void> {
    this.#dispatch(this.find(selector), 'keydown', { key });
    await this.later();
  }

  /** A pointer or a wheel on the timeline. */
  async pointer(type: string, x: number, y: number, more: object = {}): Promise<void> {
    const { canvas } = this;
    this.#dispatch(canvas, type, { offsetX: x, offsetY: y, button: 0, pointerId: 1, ...more });
    await this.later(50);
  }

  /** Hides the tab: a browser draws its frames when it is shown again. */
  hide(): void {
    this.#hiddenFrames = [];
  }

  async show(): Promise<void> {
    const frames = this.#hiddenFrames ?? [];
    this.#hiddenFrames = undefined;
    for (const draw of frames) draw();
    await this.later();
  }

  /** Ends the connection as a browser does that does not try again. */
  giveUp(): void {
    this.#giveUp();
  }

  /** Events that arrive at once. */
  receive(name: string, values: readonly object[]): void {
    for (const value of values)
      this.#events?.dispatchEvent(new MessageEvent(name, { data: JSON.stringify(value) }));
  }

  async scroll(selector: string, top: number): Promise<void> {
    const element = this.find(selector);
    element.scrollTop = top;
    this.#dispatch(element, 'scroll');
    await this.later();
  }

  get canvas(): HTMLCanvasElement {
    return this.find('canvas') as HTMLCanvasElement;
  }

  event(type: string): Event {
    return new this.#window.Event(type, { bubbles: true, cancelable: true }) as unknown as Event;
  }

  #dispatch(element: Element, type: string, more: object = {}): void {
    element.dispatchEvent(Object.assign(this.event(type), more));
  }

  #install(width: number): void {
    const window = this.#window;
    const page = this;
    const { drawing } = this;
    const capture = (pointer: number) => void this.captured.push(pointer);
    Object.assign(window.HTMLCanvasElement.prototype, {
      getContext: () => drawing,
      setPointerCapture: capture,
    });
    Object.defineProperty(window.HTMLElement.prototype, 'clientWidth', { get: () => width });
    Object.defineProperty(window.HTMLElement.prototype, 'clientHeight', { get: () => 400 });

    // Addresses of the page alone: a Window would change them in its own time.
    window.document.addEventListener('click', (event) => {
      const link = (event.target as unknown as Element).closest('a[href^="#"]');
      if (link === null) return;
      event.preventDefault();
      this.#navigate(link.getAttribute('href') ?? '');
    });

    class Events extends EventTarget {
      static readonly CLOSED = 2;
      readyState = 0;
      #lastId: string | undefined;
      #stop = () => {};

      readonly #address: string;

      constructor(address: string) {
        super();
        this.#address = address;
        setTimeout(() => this.#connect());
      }

      #connect(): void {
        const { server } = page;
        if (this.readyState === Events.CLOSED) return;
        if (!server.isUp) {
          this.#lost();
          return;
        }
        this.readyState = 1;
        this.#stop = server.follow(this.#address, this.#lastId, {
          read: (text) => {
            for (const block of text.split('\n\n')) this.#read(block);
          },
          lost: () => this.#lost(),
        });
        page.#events = this;
        page.#giveUp = () => {
          this.close();
          this.dispatchEvent(new Event('error'));
        };
        this.dispatchEvent(new Event('open'));
      }

      #lost(): void {
        this.readyState = 0;
        this.dispatchEvent(new Event('error'));
        setTimeout(() => this.#connect(), RECONNECT_MS);
      }

      #read(block: string): void {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
        this.#lastId = field('id') ?? this.#lastId;
        const name = field('event');
        if (name !== undefined) this.dispatchEvent(new MessageEvent(name, { data: field('data') }));
      }

      close(): void {
        this.readyState = Events.CLOSED;
        this.#stop();
      }
    }

    const globals = {
      document: window.document,
      location: {
        origin: ORIGIN,
        get hash() {
          return page.hash;
        },
        set hash(hash) {
          page.#navigate(hash);
        },
      },
      addEventListener: (_: string, listener: () => void) => {
        page.#listener = listener;
      },
      getComputedStyle: () => ({
        fontFamily: 'sans',
        getPropertyValue: (name: string) => name.replace('--timeline-', ''),
      }),
      matchMedia: () => ({ matches: true, addEventListener: () => {} }),
      navigator: {
        clipboard: {
          writeText: async (text: string) => {
            if (page.clipboard === undefined) throw new Error('not allowed');
            page.clipboard = text;
          },
        },
      },
      requestAnimationFrame: (draw: () => void) => {
        if (page.#hiddenFrames === undefined) return setTimeout(draw, FRAME_MS);
        return page.#hiddenFrames.push(draw);
      },
      cancelAnimationFrame: (frame: number) => clearTimeout(frame),
      CSSStyleSheet: window.CSSStyleSheet,
      EventSource: Events,
      ResizeObserver: class {
        observe() {}
        disconnect() {}
      },
      Path2D: Path,
      devicePixelRatio: 1,
      fetch: (address: string, init?: RequestInit) => page.server.fetch(address, init),
    };
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
  }
}
