/** The order of ids that a service with numeric strings, UUIDs or ULIDs has. The specification leaves their form open. */
export function compareIds(a: string, b: string): number {
  const numeric = /^\d+$/.test(a) && /^\d+$/.test(b);
  if (numeric) return BigInt(a) < BigInt(b) ? -1 : Number(a !== b);
  return a < b ? -1 : Number(a !== b);
}

const ISO = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** Whether a string is an ISO 8601 date or timestamp. */
export const isIso8601 = (text: unknown): text is string =>
  typeof text === 'string' && ISO.test(text) && !Number.isNaN(Date.parse(text));

/** Whether two decimal strings are the same amount. */
export function sameAmount(a: string, b: string): boolean {
  const plain = (text: string) => {
    const [whole = '', fraction = ''] = text.split('.');
    return `${whole}.${fraction.replace(/0+$/, '')}`;
  };
  return plain(a) === plain(b);
}
