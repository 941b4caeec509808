/**
 * What the route of a single record may not take of an id: some take only digits, some cut an id at a dot, and some servers
 * reject an encoded slash. Two ids of one form are routed alike. A form is the sorted set of what an id contains: `0` for
 * digits, `a` for letters, `é` for characters beyond ASCII, `ø` for digits that begin with a zero, which is lost if a route
 * casts them to an integer, and any other character itself.
 */
export type IdForm = string;

const LEADING_ZERO = 'ø';

export function formOf(id: string): IdForm {
  const parts = new Set<string>(/^0\d+$/.test(id) ? [LEADING_ZERO] : []);
  for (const char of id) {
    if (char >= '0' && char <= '9') parts.add('0');
    else if (/[a-z]/i.test(char)) parts.add('a');
    else parts.add(char > '~' ? 'é' : char);
  }
  return [...parts].sort().join('');
}

/** Whether a route that takes ids of one form takes those of another: it contains nothing else. Letters are not cast. */
export function covers(form: IdForm, other: IdForm): boolean {
  return [...other].every((part) => form.includes(part === LEADING_ZERO && form.includes('a') ? 'a' : part));
}

const NAMES: Readonly<Record<string, string>> = {
  a: 'letters',
  0: 'digits',
  é: 'characters beyond ASCII',
  ' ': 'a space',
  [LEADING_ZERO]: 'a zero before other digits',
};

/** What ids of a form have, for messages: letters, digits and ".". */
export function describeForm(form: IdForm): string {
  const usual = ['a', '0'].filter((part) => form.includes(part));
  const others = [...form].filter((part) => !usual.includes(part));
  const names = [...usual, ...others].map((part) => NAMES[part] ?? JSON.stringify(part));
  const last = names.pop() ?? '';
  return names.length === 0 ? last : `${names.join(', ')} and ${last}`;
}

/** What a client has learned of the ids that its service finds, by the path segment of a collection. */
export class RoutedForms {
  readonly #found = new Map<string, Set<IdForm>>();
  readonly #unrouted = new Map<string, Set<IdForm>>();

  /** A request for this id returned its record. */
  found(segment: string, id: string): void {
    add(this.#found, segment, formOf(id));
  }

  /** Requests for ids of this form return 404 for records that lists show. */
  unrouted(segment: string, form: IdForm): void {
    if (!this.#knows(segment, form)) add(this.#unrouted, segment, form);
  }

  /** Whether a record with an id of this form was found. */
  wasFound(segment: string, id: string): boolean {
    return this.#knows(segment, formOf(id));
  }

  /** Whether a 404 for this id does not show that there is no record: it has what only ids have that are not found. */
  isUnrouted(segment: string, id: string): boolean {
    const forms = this.#unrouted.get(segment);
    if (forms === undefined || this.wasFound(segment, id)) return false;
    const form = formOf(id);
    const found = [...(this.#found.get(segment) ?? [])].join('');
    return [...forms].some((unrouted) => {
      const odd = [...unrouted].filter((part) => !found.includes(part));
      return odd.length === 0 ? covers(form, unrouted) : odd.some((part) => form.includes(part));
    });
  }

  #knows(segment: string, form: IdForm): boolean {
    return [...(this.#found.get(segment) ?? [])].some((found) => covers(found, form));
  }
}

function add(forms: Map<string, Set<IdForm>>, segment: string, form: IdForm): void {
  const known = forms.get(segment);
  if (known === undefined) forms.set(segment, new Set([form]));
  else known.add(form);
}
