import { counted } from '../numbers.ts';
import type { WrittenForm } from './written-text.ts';

/** What may separate the texts of a list that was read as one. */
export type ListMark = 'mark' | 'line break' | 'brace';

/** What was read otherwise than it stands in the file, or perhaps not as it was meant. */
export type NoticeKind = WrittenForm | ListMark | 'skipped' | 'padded' | 'unnamed' | 'emptied';

/** Where something was noticed. */
interface Notice {
  /** The first places. */
  readonly places: string[];
  count: number;
}

/** How many places of one kind are named at most. */
const MAX_PLACES = 10;

const SEPARATORS = '"|" separates several, or what --list-separator names';

const oneText =
  (advice: string) =>
  ({ places: [first], count }: Notice) => {
    const more = count > 1 ? ` (and ${counted(count - 1, 'more row')})` : '';
    return `Warning: ${first} is one text of a list${more}: ${advice}.`;
  };

const all =
  (noun: string, what: string) =>
  ({ places: [first], count }: Notice) =>
    `${counted(count, noun)} ${what}: ${first}${count > 1 ? ` and ${count - 1} more` : ''}.`;

/** One sentence for each kind, in the order in which they are printed. */
const SENTENCES: Readonly<Record<NoticeKind, (notice: Notice) => string>> = {
  skipped: all('row', 'without a value in a documented field, skipped'),
  unnamed: all('row', 'with a member without a name, read without it'),
  apostrophe: all('cell', 'that began with an apostrophe, which marks a text, read without it'),
  formula: all('cell', 'of the form ="…", which marks a text, read without it'),
  tab: all('cell', 'that began with a tab, which marks a text, read without it'),
  point: all('cell', 'with a code as a decimal, read without the .0'),
  padded: all('cell', 'filled up with blanks at the end, read without them'),
  mark: oneText(SEPARATORS),
  'line break': oneText(`${SEPARATORS}, but no line break`),
  brace: oneText(`${SEPARATORS}; JSON of a list begins with "["`),
  emptied: ({ places, count }) => {
    const more = count > places.length ? ` and ${count - places.length} more` : '';
    return `Warning: "" or blanks clear a text in ${counted(count, 'cell')}: ${places.join('; ')}${more}. Pass --empty ignore to keep the texts.`;
  },
};

/** Counts what was noticed. */
export class Notices {
  readonly #notices = new Map<NoticeKind, Notice>();

  add(kind: NoticeKind, place: string): void {
    const notice = this.#notices.get(kind) ?? { places: [], count: 0 };
    this.#notices.set(kind, notice);
    notice.count += 1;
    if (notice.count <= MAX_PLACES) notice.places.push(place);
  }

  get sentences(): readonly string[] {
    return Object.entries(SENTENCES).flatMap(([kind, sentence]) => {
      const notice = this.#notices.get(kind as NoticeKind);
      return notice === undefined ? [] : [sentence(notice)];
    });
  }
}
