import { Page } from '../support/page.ts';
import { screenOf } from '../support/screen.ts';
import type { Server } from '../support/server.ts';

/** What the page asks for by itself. */
const USUAL = /^GET \/_sandbox\/(?:state|journal\?limit=100)$/;

/** Writes down what a user of the window does, and what changes in it. */
export class Session {
  readonly page: Page;
  readonly lines: string[] = [];
  #screen: readonly string[] = [];
  #picture: readonly string[] = [];
  #hash = '';
  #scrollTop = 0;
  #copied: string | undefined = '';

  private constructor(page: Page) {
    this.page = page;
  }

  static async open(server: Server, hash = ''): Promise<Session> {
    const session = new Session(await Page.open(server, hash));
    session.write('the window is opened');
    return session;
  }

  get server(): Server {
    return this.page.server;
  }

  /** Does something, lets time pass, and writes down what has changed. */
  async step(title: string, work: (page: Page) => unknown = () => {}): Promise<void> {
    await work(this.page);
    await this.page.later();
    this.write(title);
  }

  write(title: string): void {
    const { page } = this;
    this.lines.push('', title);
    if (page.hash !== this.#hash) this.lines.push(`  address ${page.hash}`);
    this.#hash = page.hash;
    for (const call of this.server.calls.splice(0)) if (!USUAL.test(call)) this.lines.push(`  > ${call}`);
    if (page.clipboard !== this.#copied) this.lines.push(`  copied ${page.clipboard?.replaceAll('\n', '⏎')}`);
    this.#copied = page.clipboard;
    const { scrollTop = 0 } = page.document.querySelector('.request-table') ?? {};
    if (scrollTop !== this.#scrollTop) this.lines.push(`  scrolled to ${scrollTop}`);
    this.#scrollTop = scrollTop;
    const screen = screenOf(page.document);
    this.lines.push(...withoutRows(changes(this.#screen, screen)));
    this.#screen = screen;
  }

  /** What is new in the timeline since it was written down. */
  picture(): void {
    const { lines } = this.page.drawing;
    this.lines.push(...changes(this.#picture, lines).map((line) => line.replace('  ', '  | ')));
    this.#picture = lines;
  }

  async end(): Promise<string> {
    await this.page.close();
    return `${this.lines.join('\n').trim()}\n`.replaceAll(/sandbox-([\w-]+)-[0-9a-f]{8}/g, 'KEY-$1');
  }
}

/** Of many rows, those at both ends. */
function withoutRows(lines: readonly string[]): string[] {
  const isRow = (line = '') => /^ {2}\+ \d+ #/.test(line);
  const isBetween = (index: number) => [-3, -2, -1, 0, 1, 2, 3].every((by) => isRow(lines[index + by]));
  const hidden = lines.filter((_, index) => isBetween(index)).length;
  return lines.flatMap((line, index) => {
    if (!isBetween(index)) return [line];
    return isBetween(index - 1) ? [] : [`    ${hidden} more`];
  });
}

/** More lines than these are counted only. */
const MOST_GONE = 2;

/** The lines that are new, and those that are gone. */
function changes(before: readonly string[], after: readonly string[]): string[] {
  const rest = [...before];
  const added = after.filter((line) => {
    const at = rest.indexOf(line);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
  const gone = rest.length > MOST_GONE ? [`${rest.length} lines`] : rest;
  return [...gone.map((line) => `  - ${line}`), ...added.map((line) => `  + ${line}`)];
}
