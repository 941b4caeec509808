/** Writes instants as HTTP dates. The last one is kept: a thousand answers a second bear the same. */
export function createHttpDate(): (ms: number) => string {
  let second = Number.NaN;
  let text = '';
  return (ms) => {
    const now = Math.floor(ms / 1000);
    if (now !== second) {
      second = now;
      text = new Date(ms).toUTCString();
    }
    return text;
  };
}
