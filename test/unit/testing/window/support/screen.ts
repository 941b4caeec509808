const BLOCKS = new Set(
  'address article aside details div dl fieldset figcaption figure footer form h1 h2 h3 header label legend li main nav ol p pre section summary table tr ul'
    .toUpperCase()
    .split(' '),
);

/** A longer line is written down by its beginning. */
const LONGEST = 220;

/** Classes that change what a user sees beyond the text. */
const STATES = ['error', 'ended', 'revoked', 'recent', 'is-selected', 'lost'];

/** What a page shows, in lines: `[a button]`, `<a link #address>`, `{a field: its value}`, `* ` before what is chosen. */
export function screenOf(document: Document): string[] {
  const lines: string[] = [];
  let line = '';
  const flush = () => {
    const whole = line.trim().replaceAll(/ {2,}/g, ' ');
    if (whole !== '') lines.push(whole.length > LONGEST ? `${whole.slice(0, LONGEST)} …` : whole);
    line = '';
  };
  const visit = (node: Node): void => {
    if (node.nodeType === 3) {
      line += node.textContent?.replaceAll('\n', node.parentElement?.closest('pre') ? '⏎' : ' ');
      return;
    }
    if (node.nodeType !== 1) return;
    const element = node as Element;
    const { tagName } = element;
    const isBlock = BLOCKS.has(tagName) || classesOf(element).includes('hint');
    if (isBlock) flush();
    const shown = shownAs(element);
    if (shown !== undefined) {
      line += ` ${shown} `;
      if (isBlock) flush();
      return;
    }
    line += prefixOf(element);
    if (tagName === 'DD') line += ': ';
    const isFolded = tagName === 'DETAILS' && !element.hasAttribute('open');
    for (const child of element.childNodes)
      if (!isFolded || (child as Element).tagName === 'SUMMARY') visit(child);
    if (isBlock) flush();
  };
  visit(document.body);
  flush();
  return lines;
}

/** A list of tokens takes much longer to create. */
const classesOf = (element: Element) => element.getAttribute('class')?.split(' ') ?? [];

function prefixOf(element: Element): string {
  const states = STATES.filter((state) => classesOf(element).includes(state)).map((state) => `(${state}) `);
  const heading = /^H\d$/.test(element.tagName) ? '# ' : '';
  const details = element.tagName === 'SUMMARY' ? (element.closest('details[open]') ? '▾ ' : '▸ ') : '';
  return `${states.join('')}${heading}${details}`;
}

const textOf = (element: Element) => element.textContent?.replaceAll(/\s+/g, ' ').trim() ?? '';

/** What stands for an element as a whole. */
function shownAs(element: Element): string | undefined {
  const label = element.getAttribute('aria-label') ?? '';
  const mark =
    element.getAttribute('aria-pressed') === 'true' || element.hasAttribute('aria-current') ? '* ' : '';
  switch (element.tagName) {
    case 'SVG':
    case 'svg':
    case 'THEAD':
      return '';
    case 'I':
      return classesOf(element)[0] === 'swatch' ? `●${classesOf(element)[1]}` : '';
    case 'CANVAS':
      return `(picture: ${label})`;
    case 'BUTTON': {
      if (element.getAttribute('role') === 'switch')
        return `[${element.getAttribute('aria-checked') === 'true' ? 'on' : 'off'}: ${label}]`;
      const disabled = (element as HTMLButtonElement).disabled ? ' (disabled)' : '';
      return `[${mark}${[label, textOf(element)].filter(Boolean).join(' ')}${disabled}]`;
    }
    case 'A':
      return `<${mark}${textOf(element)} ${element.getAttribute('href')}>`;
    case 'INPUT':
    case 'TEXTAREA':
      return fieldText(element as HTMLInputElement, label);
    case 'SELECT': {
      const { options, value } = element as HTMLSelectElement;
      const names = [...options].map((option) => option.textContent);
      const chosen = [...options].find((option) => option.value === value)?.textContent;
      return `{${chosen}, of ${names.join(', ')}}`;
    }
    case 'METER':
      return `(${element.getAttribute('value')} of ${element.getAttribute('max')}: ${label})`;
    case 'TR':
      return rowText(element);
    default:
      return classesOf(element).includes('timeline-tooltip')
        ? tooltipText(element as HTMLElement)
        : undefined;
  }
}

function fieldText({ value, placeholder, required }: HTMLInputElement, label: string): string {
  const shown =
    value === '' ? `empty${placeholder ? `, such as: ${placeholder}` : ''}` : value.replaceAll('\n', '⏎');
  return `{${label === '' ? '' : `${label}: `}${shown}${required ? ', required' : ''}}`;
}

/** Its cells in a line, with the addresses of links. */
function rowText(row: Element): string {
  const state = classesOf(row)
    .filter((name) => STATES.includes(name))
    .map((name) => `(${name}) `);
  const gap = classesOf(row).includes('gap') ? gapText(row) : '';
  const cells = [...row.children].map((cell) => {
    const link = cell.querySelector('a')?.getAttribute('href');
    return `${textOf(cell)}${link === undefined ? '' : ` ${link}`}`;
  });
  return `${state.join('')}${gap}${cells.join(' | ')}`;
}

/** How much room stands for rows that are not there, and the place of the row after it. */
function gapText({ firstElementChild: cell, nextElementSibling: next }: Element): string {
  const after = next === null ? '' : `, then row ${next.getAttribute('aria-rowindex')}`;
  return `(${(cell as HTMLElement).style.height} of rows${after})`;
}

function tooltipText(element: HTMLElement): string {
  const { left, top } = element.style;
  return element.hidden || element.textContent === ''
    ? ''
    : `(tooltip at ${left} ${top}: ${element.textContent})`;
}
