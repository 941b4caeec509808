/** Where a status line is shown. */
export interface Screen {
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

const CLEAR = '\r\u001b[2K';
/** Faster than anybody reads. */
const REDRAW_MS = 80;

/**
 * One line of a terminal that is written over again and again. Whatever else goes to the terminal goes through
 * `beside`, which takes the line away first and puts it back after.
 */
export class StatusLine {
  readonly #screen: Screen;
  #text: string | undefined;
  #drawnAt = 0;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Shows a text; undefined takes the line away. */
  show(text: string | undefined): void {
    const isNew = (text === undefined) !== (this.#text === undefined);
    this.#text = text;
    if (isNew || (text !== undefined && Date.now() - this.#drawnAt >= REDRAW_MS)) this.#draw();
  }

  beside(write: () => void): void {
    if (this.#text !== undefined) this.#screen.write(CLEAR);
    write();
    if (this.#text !== undefined) this.#draw();
  }

  /** A line that wraps could not be taken away again, so what is too long is cut. */
  #draw(): void {
    this.#drawnAt = Date.now();
    // Some terminals say 0 where they do not know.
    const room = (this.#screen.columns || 80) - 1;
    this.#screen.write(`${CLEAR}${this.#text?.slice(0, room) ?? ''}`);
  }
}
