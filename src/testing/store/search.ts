/**
 * The first index in [low, high) for which `holds` is true, or `high`. `holds` must not turn false again after it was
 * true.
 */
export function firstIndex(low: number, high: number, holds: (index: number) => boolean): number {
  let from = low;
  let to = high;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** The element at an index that is known to exist. */
export function at<T>(list: { readonly [index: number]: T; readonly length: number }, index: number): T {
  const element = list[index];
  if (element === undefined) throw new RangeError(`No element ${index} of ${list.length}`);
  return element;
}
