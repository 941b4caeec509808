/** A long path is written down by its beginning. */
const MOST_STEPS = 6;

const pathText = (path: readonly string[]) =>
  path.length <= MOST_STEPS
    ? path.join(' ')
    : `${path.slice(0, MOST_STEPS).join(' ')} and ${path.length - MOST_STEPS} more`;

const text = (values: readonly number[]) => values.map((value) => Math.round(value)).join(' ');

/** A path of a canvas. */
export class Path {
  path: string[] = [];

  moveTo(...to: number[]): void {
    this.path.push(`move ${text(to)}`);
  }

  lineTo(...to: number[]): void {
    this.path.push(`line ${text(to)}`);
  }

  bezierCurveTo(...to: number[]): void {
    this.path.push(`curve ${text(to)}`);
  }

  arc(...circle: number[]): void {
    this.path.push(`circle ${text(circle.slice(0, 3))}`);
  }

  rect(...rectangle: number[]): void {
    this.path.push(`rect ${text(rectangle)}`);
  }

  roundRect(...rectangle: number[]): void {
    this.path.push(`rect ${text(rectangle)}`);
  }

  closePath(): void {}
}

/** A drawing context that writes down what is drawn since it was cleared. */
export class Drawing extends Path {
  lines: string[] = [];
  fillStyle = '';
  strokeStyle = '';
  font = '';
  textAlign = '';
  textBaseline = '';
  lineWidth = 1;
  globalAlpha = 1;
  #dash = '';
  #clip = '';
  #saved: string[] = [];

  beginPath(): void {
    this.path = [];
  }

  clearRect(...rectangle: number[]): void {
    this.lines = [`size ${text(rectangle)}`];
  }

  setTransform(): void {}

  measureText(shown: string): { width: number } {
    return { width: shown.length * 6 };
  }

  setLineDash(dash: readonly number[]): void {
    this.#dash = dash.length === 0 ? '' : ' dashed';
  }

  save(): void {
    this.#saved.push(this.#clip);
  }

  restore(): void {
    this.#clip = this.#saved.pop() ?? '';
  }

  clip(): void {
    this.#clip = ` within ${pathText(this.path)}`;
  }

  fill({ path }: Path = this): void {
    this.#add(`fill ${this.fillStyle}${this.#alpha}: ${pathText(path)}`);
  }

  stroke({ path }: Path = this): void {
    if (path.length === 0) return;
    this.#add(`stroke ${this.strokeStyle}${this.#alpha}${this.#dash} ${this.lineWidth}: ${pathText(path)}`);
  }

  fillRect(...rectangle: number[]): void {
    this.#add(`fill ${this.fillStyle}: rect ${text(rectangle)}`);
  }

  fillText(shown: string, ...at: number[]): void {
    this.#add(
      `write ${this.fillStyle} ${this.font.includes('600') ? 'bold ' : ''}${this.textAlign}: ${shown} at ${text(at)}`,
    );
  }

  get #alpha(): string {
    return this.globalAlpha === 1 ? '' : ` ${this.globalAlpha}`;
  }

  #add(line: string): void {
    this.lines.push(`${line}${this.#clip}`);
  }
}
