/**
 * JSON of a value of the caller other than undefined. Throws for what `JSON.stringify` would replace by null or drop
 * without an error, such as NaN, an invalid Date, a function, a Map, and undefined in a list. Undefined members are left
 * out.
 */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, name, member: unknown) {
    const isLost =
      typeof member === 'function' ||
      typeof member === 'symbol' ||
      (typeof member === 'number' && !Number.isFinite(member)) ||
      (member === undefined && Array.isArray(this)) ||
      // By its `toJSON`.
      ((member === undefined || member === null) && this[name] !== member) ||
      hasHiddenContent(member);
    if (isLost) throw new TypeError('JSON cannot represent this value.');
    return member;
  });
}

/** Whether a value is of a class such as Promise or Map: as JSON it would be an empty object, whatever it contains. */
export function hasHiddenContent(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.keys(value).length === 0 && Object.prototype.toString.call(value) !== '[object Object]';
}

/** JSON of a parsed JSON value, however deep it is: `JSON.stringify` throws a RangeError for a few thousand levels. */
export function jsonText(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent);
  } catch (error) {
    if (error instanceof RangeError) return deepJsonText(value);
    throw error;
  }
}

/** A part of a JSON text: finished text, or a value that is still to be written. */
type Piece = string | { readonly value: unknown };

/** With a stack of its own in place of recursion, and without an indent. */
function deepJsonText(value: unknown): string {
  const parts: string[] = [];
  const stack: Piece[] = [{ value }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next === 'string') parts.push(next);
    else if (typeof next.value !== 'object' || next.value === null) parts.push(JSON.stringify(next.value));
    else for (const piece of piecesOf(next.value).reverse()) stack.push(piece);
  }
  return parts.join('');
}

function piecesOf(value: object): Piece[] {
  const comma = (index: number) => (index === 0 ? '' : ',');
  if (Array.isArray(value)) {
    return ['[', ...value.flatMap((item: unknown, index) => [comma(index), { value: item }]), ']'];
  }
  const members = Object.entries(value).flatMap(([name, item], index): Piece[] => {
    return [`${comma(index)}${JSON.stringify(name)}:`, { value: item }];
  });
  return ['{', ...members, '}'];
}
