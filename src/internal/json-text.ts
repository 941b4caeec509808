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
