/**
 * The value of a JSON text that was cut: its members and items that are whole. `undefined` if there is none.
 *
 * ```ts
 * cutJson('{"type":"forbidden","violations":[{"propertyPath":"name","mess'); // { type: 'forbidden', violations: [{ propertyPath: 'name' }] }
 * ```
 */
export function cutJson(text: string): unknown {
  const open: string[] = [];
  let isString = false;
  // Where the last whole member or item ends, and how many objects and arrays are open there. Whatever closes one
  // is such an end itself, so the first `depth` of `open` stay as they are.
  let end = 0;
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charAt(index);
    if (isString) {
      if (char === '\\') index += 1;
      else if (char === '"') isString = false;
    } else if (char === '"') {
      isString = true;
    } else if (char === '{' || char === '[') {
      open.push(char === '{' ? '}' : ']');
    } else if (char === '}' || char === ']') {
      open.pop();
      [end, depth] = [index + 1, open.length];
    } else if (char === ',') {
      // What stands before a comma is whole.
      [end, depth] = [index, open.length];
    }
  }
  try {
    return JSON.parse(text.slice(0, end) + open.slice(0, depth).reverse().join(''));
  } catch {
    return undefined;
  }
}
